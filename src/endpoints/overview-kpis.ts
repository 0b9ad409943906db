import { kpiRange } from '../analytics/range/ranges.ts';
import { basisOf, kpisBasis } from '../analytics/scopes.ts';
import { KpiComparison } from '../answers/kpis.ts';
import { defineQuestion } from './endpoint.ts';
import { rangeQuery } from './query.ts';

export const overviewKpis = defineQuestion({
  operationId: 'getOverviewKpis',
  path: '/api/v1/sessions/overview/kpis',
  summary: 'KPIs of a period beside the one before it',
  description:
    "Without a range: today against yesterday, in UTC. With one of length L: the L ms that end just before `from`. With only `from`, `to` is the end of today's UTC day; with only `to`, `from` is the start of its UTC day.",
  query: rangeQuery({
    from: "it is the start of `to`'s UTC day, or of today's",
    to: "it is the end of today's UTC day",
  }),
  response: KpiComparison,
  errors: ['beyond_retention'],
  question: ({ appId, range, segment }, now) => {
    const current = kpiRange(range, now);
    return {
      basis: basisOf(kpisBasis(current), segment),
      compute: (analytics) => analytics.kpis(appId, current, segment),
    };
  },
});
