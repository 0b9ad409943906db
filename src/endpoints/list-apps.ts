import { z } from 'zod';
import { Timestamp } from '../answers/fields.ts';
import { defineEndpoint } from './endpoint.ts';
import { NoQuery } from './query.ts';

export const AppSummary = z
  .strictObject({
    id: z.string().meta({ description: 'Used as appId.', override: { format: 'uuid' } }),
    name: z.string(),
    domain: z.string(),
    access: z.enum(['owner', 'shared']),
    createdAt: Timestamp,
  })
  .meta({ id: 'PublicAppSummaryDto' });

export const listApps = defineEndpoint({
  operationId: 'listApps',
  method: 'get',
  path: '/api/v1/apps',
  summary: 'The apps that the account owns or that are shared with it',
  description: 'By createdAt.',
  query: NoQuery,
  response: z.array(AppSummary),
  handler: ({ principal, access }) => access.listApps(principal.accountId),
});
