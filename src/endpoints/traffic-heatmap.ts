import { basisOf, heatmapBasis } from '../analytics/scopes.ts';
import { TrafficHeatmap } from '../answers/times.ts';
import { defineQuestion } from './endpoint.ts';
import { AppSegmentQuery } from './query.ts';

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
