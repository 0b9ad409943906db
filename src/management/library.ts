import { ERRORS_GUIDE } from '../http/docs/library.ts';
import type { Library } from '../http/docs/site.ts';
import { managementDocument } from './openapi.ts';

/** The pages that the management listener serves at /docs. They tell how the service is run, so they are not public. */
export const managementLibrary = (): Library => ({
  title: 'Management reference',
  doors: ['/docs/'],
  hasConsole: false,
  references: [
    {
      path: '/docs',
      title: 'Management API',
      credential: { name: 'Management token', looks: 'eyJ…', check: '/management/v1/accounts' },
      chapters: [
        {
          address: '/openapi.json',
          document: managementDocument(),
          dialect: { variable: 'MANAGEMENT_TOKEN', hasClient: false },
        },
      ],
    },
  ],
  guides: [ERRORS_GUIDE],
  others: [],
});
