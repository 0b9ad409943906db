import { z } from 'zod';
import { growthDays } from '../analytics/range/ranges.ts';
import { basisOf, growthBasis } from '../analytics/scopes.ts';
import { GrowthPoint } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { rangeQuery } from './query.ts';

export const userGrowth = defineQuestion({
  operationId: 'listUserGrowth',
  path: '/api/v1/sessions/user-growth',
  summary: 'Sessions, visitors, pageviews and clicks per UTC day',
  description:
    'Every UTC day of the range, zeros included; at most 4,000. An omitted bound is the first or last day on which the app has a session or an event.',
  query: rangeQuery({
    from: 'the answer begins with the first day with data',
    to: 'the answer ends with the last day with data',
  }),
  response: z.array(GrowthPoint),
  errors: ['beyond_retention'],
  question: ({ appId, range, segment }) => {
    const { from, to } = range;
    if (from !== null && to !== null) growthDays({ from, to });
    return {
      basis: basisOf(growthBasis(range), segment),
      compute: (analytics) => analytics.userGrowth(appId, range, segment),
    };
  },
});
