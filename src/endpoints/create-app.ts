import { z } from 'zod';
import { AppDomain, AppName } from '../metadata/names.ts';
import { defineEndpoint } from './endpoint.ts';
import { AppSummary } from './list-apps.ts';
import { NoQuery } from './query.ts';

const CreatedApp = AppSummary.extend({
  access: z.literal('owner'),
  secretKey: z.string().meta({ description: "The app's SDK credential. Shown here once, never again." }),
}).meta({ id: 'PublicCreatedAppDto' });

export const createApp = defineEndpoint({
  operationId: 'createApp',
  method: 'post',
  path: '/api/v1/apps',
  summary: "Creates an app under the key's account",
  description: "The answer holds the app's secretKey, this once.",
  query: NoQuery,
  body: z.strictObject({ name: AppName, domain: AppDomain }).meta({ id: 'CreateAppDto' }),
  response: CreatedApp,
  errors: ['domain_conflict'],
  handler: ({ principal, access, body }) => access.createApp(principal, body),
});
