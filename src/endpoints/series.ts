import { pointsIn } from '../analytics/range/calendar.ts';
import { basisOf, seriesBasis } from '../analytics/scopes.ts';
import { Series } from '../answers/times.ts';
import { defineQuestion } from './endpoint.ts';
import { SeriesQuery } from './query.ts';

export const series = defineQuestion({
  operationId: 'getSeries',
  path: '/api/v1/sessions/series',
  summary: 'Metrics per hour, day, week or month of any time zone',
  description:
    'The local units that meet the range, zeros included; at most 4,000. A unit that the range cuts counts only the part inside. Hours begin where the clock shows :00, and wherever it is changed; a day begins with its first instant.',
  query: SeriesQuery,
  response: Series,
  errors: ['beyond_retention'],
  question: ({ appId, range, segment, interval, timezone }) => {
    const question = { interval, timezone };
    const { from, to } = range;
    if (from !== null && to !== null) pointsIn(question, { from, to });
    return {
      basis: basisOf(seriesBasis(range, question), segment),
      compute: (analytics) => analytics.series(appId, range, question, segment),
    };
  },
});
