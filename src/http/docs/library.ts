import { errorsText } from './errors.ts';
import { figuresFindable, figuresMarkup } from './figures.ts';
import { guideOf } from './guides.ts';
import { openApiDocument } from './openapi.ts';
import { healthDocument, ingestionDocument } from './openapi-service.ts';
import type { Documentation } from './reference/documentation.ts';
import type { Library } from './site.ts';

/** The variable with the key, as the demo prints it. */
const API_KEY = 'KEY';
const PLAIN = { variable: API_KEY, hasClient: false };

/** The page that the `type` of every problem links to. */
export const ERRORS_GUIDE = { name: 'errors', title: 'Errors', text: errorsText };

/** The pages that the public listener serves at /docs. `more`: further references, such as that of the console. */
export const publicLibrary = (more: Library['references'] = []): Library => ({
  title: 'API reference',
  doors: ['/', '/docs/'],
  hasConsole: more.length > 0,
  references: [
    {
      path: '/docs',
      title: openApiDocument().info.title,
      credential: { name: 'API key', looks: 'service_api_…', check: '/api/v1/apps' },
      chapters: [
        {
          address: '/openapi.json',
          document: openApiDocument() as unknown as Documentation,
          dialect: { variable: API_KEY, hasClient: true },
        },
        { address: '/openapi/ingestion.json', document: ingestionDocument(), dialect: PLAIN },
        { address: '/openapi/health.json', document: healthDocument(), dialect: PLAIN },
      ],
    },
    ...more,
  ],
  guides: [
    ERRORS_GUIDE,
    guideOf('segments', 'Segments'),
    guideOf('polling', 'Polling and streams'),
    guideOf('examples', 'Examples'),
    guideOf('ingestion', 'Ingestion'),
    guideOf('sdk', 'Browser SDK'),
  ],
  others: [
    {
      path: '/docs/figures',
      title: 'What every number means',
      content: figuresMarkup,
      findable: figuresFindable,
    },
  ],
});
