import { z } from 'zod';
import { growthDays } from '../analytics/range/ranges.ts';
import { growthBasis } from '../analytics/scopes.ts';
import { defineEndpoint } from './endpoint.ts';
import { figure } from './fields.ts';
import { rangeQuery } from './query.ts';

const UserGrowthPoint = z
  .strictObject({
    date: z.string().meta({ description: 'A UTC day.', example: '2026-11-20', override: { format: 'date' } }),
    sessions: figure('daySessions'),
    visitors: figure('dayVisitors'),
    pageviews: figure('dayPageviews'),
    clicks: figure('dayClicks'),
  })
  .meta({ id: 'PublicUserGrowthPointDto' });

export const userGrowth = defineEndpoint({
  operationId: 'listUserGrowth',
  method: 'get',
  path: '/api/v1/sessions/user-growth',
  summary: 'Sessions, visitors, pageviews and clicks per UTC day',
  description:
    'Every UTC day of the range, zeros included; at most 4,000. An omitted bound is the first or last day on which the app has a session or an event.',
  query: rangeQuery({
    from: 'the answer begins with the first day with data',
    to: 'the answer ends with the last day with data',
  }),
  response: z.array(UserGrowthPoint),
  errors: ['beyond_retention'],
  check: ({ range: { from, to } }) => {
    if (from !== null && to !== null) growthDays({ from, to });
  },
  basis: ({ range }) => growthBasis(range),
  handler: ({ query, analytics }) => analytics.userGrowth(query.appId, query.range),
});
