import { type AppId, appId } from '../src/domain/ids.ts';
import { DAY_MS, epochMs, type OpenRange, utcDayStart } from '../src/domain/time.ts';

/** The amount of data: `events` in the big app, over the `days` that end now. */
export interface Shape {
  readonly events: number;
  readonly days: number;
}

/** "Now" in every run. It is fixed, so that equal shapes hold equal data. */
export const NOW = epochMs(Date.UTC(2026, 10, 20, 14, 37, 12, 345));
export const BIG_APP: AppId = appId('0b16a000-0000-4000-8000-000000000001');
export const SMALL_APPS = 200;

const EVENTS_PER_SESSION = 12;
/**
 * Sessions per day are a multiple of this. Their sizes repeat every 20, and every second session is equal.
 */
const CYCLE = 40;

export interface Sizes {
  /** Of the big app, per day. */
  readonly sessionsPerDay: number;
  readonly sessions: number;
  /** Of the big app. */
  readonly visitors: number;
  readonly sessionsPerSmallApp: number;
}

export function sizes({ events, days }: Shape): Sizes {
  const sessionsPerDay = Math.max(1, Math.round(events / EVENTS_PER_SESSION / days / CYCLE)) * CYCLE;
  const sessions = sessionsPerDay * days;
  return {
    sessionsPerDay,
    sessions,
    visitors: Math.ceil(sessions / 3),
    sessionsPerSmallApp: Math.max(4, Math.round(events / 240_000)),
  };
}

export const beginning = ({ days }: Shape): number => NOW - days * DAY_MS;

/**
 * Ranges three days shorter than the data (27 of 30), with both ends inside the data, except ranges that end
 * now.
 */
export function ranges({ days }: Shape): { readonly [Name in RangeName]: OpenRange } {
  const today = utcDayStart(NOW);
  const from = today - (days - 2) * DAY_MS;
  const to = today - DAY_MS;
  return {
    aligned: { from: epochMs(from), to: epochMs(to - 1) },
    ragged: { from: epochMs(from + 26_002_417), to: epochMs(to + 24_531_932) },
    'ending now': { from: epochMs(from + 26_002_417), to: NOW },
    unbounded: { from: null, to: null },
  };
}

export type RangeName = 'aligned' | 'ragged' | 'ending now' | 'unbounded';
export const RANGE_NAMES: readonly RangeName[] = ['aligned', 'ragged', 'ending now', 'unbounded'];
