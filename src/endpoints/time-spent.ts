import { z } from 'zod';
import { basisOf, eventsBasis } from '../analytics/scopes.ts';
import { defineQuestion } from './endpoint.ts';
import { figuresOf } from './fields.ts';
import { AppRangeListQuery } from './query.ts';

const TimeSpent = z
  .strictObject({
    path: z.string(),
    ...figuresOf(['totalMs', 'averageMs']),
  })
  .meta({ id: 'PublicTimeSpentDto' });

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
