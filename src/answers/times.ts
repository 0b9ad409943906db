/* The answers about points in time. */

import { z } from 'zod';
import { INTERVALS } from '../domain/interval.ts';
import type { Answer } from './answer.ts';
import { Day, figure, figuresOf, hourly, Timestamp, top } from './fields.ts';
import { PageView } from './rows.ts';

export const DataBounds = z
  .strictObject({
    oldest: Timestamp.nullable().meta({ description: 'Start of the earliest session; null without data.' }),
    newest: Timestamp.nullable().meta({ description: 'Start of the latest session; null without data.' }),
  })
  .meta({ id: 'PublicDataBoundsDto' });
export type DataBounds = Answer<typeof DataBounds>;

export const TrafficHeatmap = z
  .strictObject({
    timezone: z.literal('Asia/Tehran'),
    from: Timestamp,
    to: Timestamp,
    days: z
      .array(
        z.strictObject({
          date: Day.meta({ description: 'A Tehran day.' }),
          sessions: hourly('hourSessions'),
          visitors: hourly('hourVisitors'),
          pageviews: hourly('hourPageviews'),
        }),
      )
      .length(7),
  })
  .meta({ id: 'PublicTrafficHeatmapResponseDto' });
export type TrafficHeatmap = Answer<typeof TrafficHeatmap>;

export const AudienceActivity = z
  .strictObject({
    timezone: z.literal('Asia/Tehran'),
    from: Timestamp,
    to: Timestamp,
    windowDays: z.literal(28),
    days: z
      .array(
        z.strictObject({
          dayOfWeek: z.int().min(1).max(7).meta({ description: 'ISO: Monday is 1.' }),
          sessions: hourly('averageSessions'),
          visitors: hourly('averageVisitors'),
          pageviews: hourly('averagePageviews'),
        }),
      )
      .length(7),
  })
  .meta({ id: 'PublicAudienceActivityResponseDto' });
export type AudienceActivity = Answer<typeof AudienceActivity>;

const SeriesPoint = z
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
export type SeriesPoint = Answer<typeof SeriesPoint>;

export const Series = z
  .strictObject({
    interval: z.enum(INTERVALS),
    timezone: z.string().meta({ description: 'As it was sent.' }),
    points: z.array(SeriesPoint).max(4_000),
  })
  .meta({ id: 'PublicSeriesResponseDto' });
export type Series = Answer<typeof Series>;

const NamedSessions = z
  .strictObject({ name: z.string(), sessions: figure('sessionsNowListed') })
  .meta({ id: 'NamedSessions' });
export type NamedSessions = Answer<typeof NamedSessions>;

export const Realtime = z
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
    channels: top(NamedSessions),
    countries: top(NamedSessions),
  })
  .meta({ id: 'PublicRealtimeResponseDto' });
export type Realtime = Answer<typeof Realtime>;
