import { z } from 'zod';
import { basisOf, heatmapBasis } from '../analytics/scopes.ts';
import { defineQuestion } from './endpoint.ts';
import { hourly, Timestamp } from './fields.ts';
import { AppSegmentQuery } from './query.ts';

const TrafficHeatmap = z
  .strictObject({
    timezone: z.literal('Asia/Tehran'),
    from: Timestamp,
    to: Timestamp,
    days: z
      .array(
        z.strictObject({
          date: z.string().meta({ description: 'A Tehran day.', override: { format: 'date' } }),
          sessions: hourly('hourSessions'),
          visitors: hourly('hourVisitors'),
          pageviews: hourly('hourPageviews'),
        }),
      )
      .length(7),
  })
  .meta({ id: 'PublicTrafficHeatmapResponseDto' });

export const trafficHeatmap = defineQuestion({
  operationId: 'getTrafficHeatmap',
  path: '/api/v1/sessions/traffic-heatmap',
  summary: 'Hourly matrix of the last 7 Tehran days',
  description:
    'Today included, oldest first; hours to come are 0. `from` and `to` are the first and last ms of the window. Sessions and visitors count in the hour of their start, pageviews in their own.',
  query: AppSegmentQuery,
  response: TrafficHeatmap,
  errors: ['beyond_retention'],
  question: ({ appId, segment }, now) => ({
    basis: basisOf(heatmapBasis(now), segment),
    compute: (analytics) => analytics.trafficHeatmap(appId, now, segment),
  }),
});
