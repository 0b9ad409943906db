import { type Described, documentOf } from '../http/docs/openapi-document.ts';
import type { Documentation } from '../http/docs/reference/documentation.ts';
import { ACCOUNTS } from './openapi/accounts.ts';
import { APPS } from './openapi/apps.ts';
import { KEYS } from './openapi/keys.ts';
import { MOVES } from './openapi/moves.ts';
import { OPERATION } from './openapi/operation.ts';
import { PEOPLE } from './openapi/people.ts';

const OPERATIONS: Readonly<Record<string, Described>> = {
  ...ACCOUNTS,
  ...KEYS,
  ...APPS,
  ...MOVES,
  ...PEOPLE,
  ...OPERATION,
};

/** OpenAPI of the management API. Only its own listener serves it. */
export const managementDocument = (): Documentation =>
  documentOf({
    title: 'Management API',
    description: `For the operator, on a listener of its own. The \`admin\` and \`import\` commands call it.

Every call needs \`Authorization: Bearer\` with a JWT that is signed by HS256 with MANAGEMENT_JWT_SECRET, and that
expires. This reference and \`/metrics\` need none. A request without a body counts as one without fields.`,
    tags: [
      { name: 'Accounts', description: 'Accounts and their plans.' },
      { name: 'API keys', description: 'The keys of the Public API.' },
      { name: 'Apps', description: 'Apps of all accounts, their secrets and shares.' },
      { name: 'People', description: 'Who signs in to the console, and who did what.' },
      { name: 'Operation', description: 'The state of ingestion and of sealing, and backups.' },
    ],
    credential: {
      name: 'token',
      scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'HS256, with `exp`.' },
    },
    headers: [],
    operations: Object.fromEntries(
      Object.entries(OPERATIONS).map(([route, operation]) => [
        route.replace(' ', ' /management/v1'),
        operation,
      ]),
    ),
  });
