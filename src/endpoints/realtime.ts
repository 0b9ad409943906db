import { z } from 'zod';
import { basisOf, realtimeBasis } from '../analytics/scopes.ts';
import { defineQuestion } from './endpoint.ts';
import { figure, Timestamp } from './fields.ts';
import { PageView } from './pageviews.ts';
import { AppSegmentQuery } from './query.ts';

const top = <Item extends z.ZodType>(item: Item) => z.array(item).max(10);
const Named = z
  .strictObject({ name: z.string(), sessions: figure('sessionsNowListed') })
  .meta({ id: 'NamedSessions' });

const Realtime = z
  .strictObject({
    from: Timestamp,
    to: Timestamp,
    visitors: figure('visitorsNow'),
    sessions: figure('sessionsNow'),
    pageviews: figure('pageviews'),
    activeVisitors: figure('activeVisitors'),
    minutes: z
      .array(
        z.strictObject({
          start: Timestamp,
          visitors: figure('minuteVisitors'),
          pageviews: figure('minutePageviews'),
        }),
      )
      .length(30),
    pages: top(PageView),
    channels: top(Named),
    countries: top(Named),
  })
  .meta({ id: 'PublicRealtimeResponseDto' });

export const realtime = defineQuestion({
  operationId: 'getRealtime',
  path: '/api/v1/sessions/realtime',
  summary: 'The last 30 minutes',
  description:
    'The 30 minutes that end with the current one; `to` is its last ms. Counts the events of these minutes, and their sessions and visitors. Lists hold the first 10. Later events do not count.',
  query: AppSegmentQuery,
  response: Realtime,
  errors: ['beyond_retention'],
  question: ({ appId, segment }, now) => ({
    basis: basisOf(realtimeBasis(now), segment),
    compute: (analytics) => analytics.realtime(appId, now, segment),
  }),
});
