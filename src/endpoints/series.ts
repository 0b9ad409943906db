import { z } from 'zod';
import { pointsIn } from '../analytics/range/calendar.ts';
import { basisOf, seriesBasis } from '../analytics/scopes.ts';
import { INTERVALS } from '../domain/interval.ts';
import { defineQuestion } from './endpoint.ts';
import { figure, figuresOf, Timestamp } from './fields.ts';
import { SeriesQuery } from './query.ts';

const Point = z
  .strictObject({
    start: Timestamp.meta({ description: 'When the local unit begins, also where that is before `from`.' }),
    sessions: figure('pointSessions'),
    visitors: figure('pointVisitors'),
    pageviews: figure('pointPageviews'),
    clicks: figure('pointClicks'),
    errors: figure('pointErrors'),
    ...figuresOf(['bounceRate', 'averageSessionDurationMs', 'pagesPerSession']),
  })
  .meta({ id: 'SeriesPoint' });

const Series = z
  .strictObject({
    interval: z.enum(INTERVALS),
    timezone: z.string().meta({ description: 'As it was sent.' }),
    points: z.array(Point).max(4_000),
  })
  .meta({ id: 'PublicSeriesResponseDto' });

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
