import * as answers from '../answers.ts';
import { AppParams } from '../schemas.ts';
import { TYPE as ARCHIVE, ImportQuery } from '../transfer.ts';
import { ACCOUNT, APP } from './examples.ts';
import { tagged } from './tagged.ts';

export const MOVES = tagged('Apps', {
  'GET /apps/:appId/export': {
    operationId: 'exportApp',
    summary: 'An app with all its data, as a file',
    description: '`admin app export --app APP > app.tar` asks this.',
    params: AppParams,
    answer: { file: ARCHIVE },
    errors: ['overloaded'],
  },
  'POST /app-imports': {
    operationId: 'importApp',
    summary: 'Makes an app of such a file, here or in another store',
    description: '`admin app import < app.tar` asks this. With `asNew` the app gets another id and secret.',
    query: ImportQuery,
    body: { file: ARCHIVE },
    status: 201,
    answer: answers.ImportedApp,
    example: {
      appId: APP,
      accountId: ACCOUNT,
      name: 'Shop',
      domain: 'https://shop.example',
      events: 120,
      secretKey: 'app_secret_…',
    },
    errors: ['not_found', 'domain_conflict', 'plan_blocked', 'overloaded'],
  },
});
