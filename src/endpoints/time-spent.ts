import { z } from 'zod';
import { basisOf, eventsBasis } from '../analytics/scopes.ts';
import { TimeSpent } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { AppRangeListQuery } from './query.ts';

export const timeSpent = defineQuestion({
  operationId: 'listTimeSpent',
  path: '/api/v1/sessions/timespent',
  summary: 'Visible time per page path, in milliseconds',
  description: 'Paths with engagement events in the range, by totalMs descending, then path in byte order.',
  query: AppRangeListQuery,
  response: z.array(TimeSpent),
  errors: ['beyond_retention'],
  question: ({ appId, range, limit, segment }) => ({
    basis: basisOf(eventsBasis(range), segment),
    compute: (analytics) => analytics.timeSpent(appId, range, limit, segment),
  }),
});
