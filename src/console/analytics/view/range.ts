import {
  DAY_MS,
  dayStart,
  HOUR_MS,
  hourStart,
  instantOf,
  MINUTE_MS,
  type WallMinute,
  wallAt,
  type Zone,
} from './zone.ts';

/** Ranges that move with the clock. They end with the current day or hour, so that new events belong to them. */
export const PRESETS = ['today', 'yesterday', '24h', '7d', '28d', '90d', '365d'] as const;
export type Preset = (typeof PRESETS)[number];

/** Two minutes, both inclusive. */
export interface Minutes {
  readonly from: WallMinute;
  readonly to: WallMinute;
}
export type Choice = Preset | Minutes;

/** The first and last ms, as the API takes them. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The service lists at most this many UTC days. */
const MAX_DAYS = 4_000;

export function rangeOf(choice: Choice, zone: Zone, now: number): Range {
  if (typeof choice === 'object') return instantsOf(choice, zone);
  const tomorrow = dayStart(now, zone, 1);
  switch (choice) {
    case 'today':
      return { from: dayStart(now, zone), to: tomorrow - 1 };
    case 'yesterday':
      return { from: dayStart(now, zone, -1), to: dayStart(now, zone) - 1 };
    case '24h': {
      const end = hourStart(now, zone) + HOUR_MS;
      return { from: end - DAY_MS, to: end - 1 };
    }
    default:
      return { from: dayStart(now, zone, 1 - Number.parseInt(choice, 10)), to: tomorrow - 1 };
  }
}

export const instantsOf = ({ from, to }: Minutes, zone: Zone): Range => ({
  from: instantOf(from, zone),
  to: instantOf(to, zone) + MINUTE_MS - 1,
});

/** Why minutes make no range; null if they do. */
export function rangeProblem({ from, to }: Minutes): 'reversed' | 'long' | null {
  if (from > to) return 'reversed';
  const days = (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / DAY_MS;
  return days > MAX_DAYS - 2 ? 'long' : null;
}

/** The whole days from one instant to another; the latest of them if they are too many. */
export function minutesOf(first: number, last: number, zone: Zone): Minutes {
  const earliest = dayStart(last, zone, 3 - MAX_DAYS);
  return {
    from: wallAt(Math.max(dayStart(first, zone), earliest), zone),
    to: wallAt(dayStart(last, zone, 1) - MINUTE_MS, zone),
  };
}

export const lengthOf = ({ from, to }: Range): number => to - from + 1;

/** True while new events can belong to the range. */
export const isLive = ({ from, to }: Range, now: number): boolean => from <= now && now <= to;

/** The part of a question's parameters that narrows its answer to some sessions. */
export const segmentParams = (segment: string): { readonly segment?: string } =>
  segment === '' ? {} : { segment };

export const paramsOf = ({ from, to }: Range): { readonly from: string; readonly to: string } => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});
