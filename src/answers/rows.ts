/* The rows of the answers that are lists. */

import { z } from 'zod';
import type { Answer } from './answer.ts';
import { Day, figure, figuresOf } from './fields.ts';

export const PageView = z
  .strictObject({ path: z.string(), ...figuresOf(['views', 'uniqueSessions']) })
  .meta({ id: 'PublicPageViewDto' });
export type PageView = Answer<typeof PageView>;

export const TimeSpent = z
  .strictObject({ path: z.string(), ...figuresOf(['totalMs', 'averageMs']) })
  .meta({ id: 'PublicTimeSpentDto' });
export type TimeSpent = Answer<typeof TimeSpent>;

export const GrowthPoint = z
  .strictObject({
    date: Day.meta({ description: 'A UTC day.', example: '2026-11-20' }),
    sessions: figure('daySessions'),
    visitors: figure('dayVisitors'),
    pageviews: figure('dayPageviews'),
    clicks: figure('dayClicks'),
  })
  .meta({ id: 'PublicUserGrowthPointDto' });
export type GrowthPoint = Answer<typeof GrowthPoint>;

export const Location = z
  .strictObject({
    country: z.string().nullable(),
    region: z.string().nullable(),
    city: z.string().nullable(),
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    count: figure('sessionsListed'),
  })
  .meta({ id: 'PublicLocationDto' });
export type Location = Answer<typeof Location>;

export const UtmCampaign = z
  .strictObject({
    source: z.string().min(1),
    medium: z.string().nullable(),
    campaign: z.string().nullable(),
    term: z.string().nullable(),
    content: z.string().nullable(),
    sessions: figure('sessionsListed'),
    visitors: figure('visitorsListed'),
  })
  .meta({ id: 'PublicUtmCampaignDto' });
export type UtmCampaign = Answer<typeof UtmCampaign>;

export const BreakdownRow = z
  .strictObject({
    name: z.string().nullable().meta({ description: 'Null for sessions without a value.' }),
    sessions: figure('sessionsListed'),
    visitors: figure('visitorsListed'),
    share: figure('share'),
    pageviews: figure('pageviewsListed'),
    ...figuresOf(['bounceRate', 'averageSessionDurationMs', 'pagesPerSession']),
  })
  .meta({ id: 'PublicBreakdownDto' });
export type BreakdownRow = Answer<typeof BreakdownRow>;

export const EventRow = z
  .strictObject({
    name: z.string().nullable().meta({
      description:
        'Target, message or name of the events, or the value of the property; null if it is absent.',
    }),
    count: figure('eventCount'),
    sessions: figure('eventSessions'),
    visitors: figure('eventVisitors'),
  })
  .meta({ id: 'PublicEventDto' });
export type EventRow = Answer<typeof EventRow>;
