import { z } from 'zod';
import { basisOf, breakdownBasis } from '../analytics/scopes.ts';
import { BreakdownRow } from '../answers/rows.ts';
import { defineQuestion } from './endpoint.ts';
import { BreakdownQuery } from './query.ts';

export const breakdown = defineQuestion({
  operationId: 'listBreakdown',
  path: '/api/v1/sessions/breakdown',
  summary: 'Sessions by one of their properties',
  description:
    'By sessions descending, then name in byte order, null last. By entry or exit page, sessions without a page view are no row, but count in the shares.',
  query: BreakdownQuery,
  response: z.array(BreakdownRow),
  errors: ['beyond_retention'],
  question: ({ appId, range, by, limit, segment }) => ({
    basis: basisOf(breakdownBasis(range, by), segment),
    compute: (analytics) => analytics.breakdown(appId, range, by, limit, segment),
  }),
});
