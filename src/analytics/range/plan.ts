import {
  DAY_MS,
  type EpochMs,
  epochMs,
  floorTo,
  HOUR_MS,
  type Range,
  type Span,
  storedPart,
} from '../../domain/time.ts';
import { COARSE_UNITS } from '../../facts/sql/tables.ts';

/** The grains of facts. Each is a multiple of the one before; buckets are counted from 1970-01-01 UTC. */
const UNITS = [['hour', HOUR_MS], ...COARSE_UNITS] as const;
export type Grain = (typeof UNITS)[number][0];
export const GRAIN_MS = Object.fromEntries(UNITS) as Readonly<Record<Grain, number>>;

/** Whole buckets of one grain. */
interface GrainSpan extends Span {
  readonly grain: Grain;
}

/**
 * How a range is answered: disjoint pieces that together are exactly the range. Sums answer `buckets`. Single
 * rows, of session facts or raw events, answer the edges (`left` and `right`, less than an hour each). Raw
 * rows answer the `tail`, which starts at the watermark.
 */
export interface Plan {
  readonly range: Range;
  readonly watermark: EpochMs;
  readonly left: Range | null;
  /** The sealed hours that lie in the range as a whole: the union of `buckets`. */
  readonly sealed: Span;
  /** A handful of each grain at most. */
  readonly buckets: readonly GrainSpan[];
  readonly right: Range | null;
  readonly tail: Range | null;
}

const NOTHING: Span = { start: 0, end: 0 };

const ceilTo = (ms: number, unit: number): number => Math.ceil(ms / unit) * unit;

/** Returns inclusive bounds, or null if the span is empty. */
const rangeOrNull = (start: number, end: number): Range | null =>
  start < end ? rangeOf({ start, end }) : null;

/**
 * Splits the stored part of a range at the watermark (a whole UTC hour; 0 if nothing is sealed). Uses no grain coarser
 * than `coarsest`.
 */
export function plan(whole: Range, watermark: EpochMs, coarsest: Grain = 'day256'): Plan {
  const range = storedPart(whole);
  const end = range.to + 1;
  const sealedEnd = Math.min(end, watermark);
  const tail = rangeOrNull(Math.max(range.from, watermark), end);
  const none = { range, watermark, left: null, sealed: NOTHING, buckets: [], right: null, tail };
  if (range.from >= sealedEnd) return none;
  const first = ceilTo(range.from, HOUR_MS);
  const last = floorTo(sealedEnd, HOUR_MS);
  if (first > last) return { ...none, left: rangeOrNull(range.from, sealedEnd) };
  return {
    ...none,
    left: rangeOrNull(range.from, first),
    sealed: { start: first, end: last },
    buckets: bucketsOf(first, last, coarsest),
    right: rangeOrNull(last, sealedEnd),
  };
}

/** Covers whole hours with few buckets: the coarsest that fit in the middle, finer ones towards both ends. */
function bucketsOf(first: number, last: number, coarsest: Grain): GrainSpan[] {
  const found: GrainSpan[] = [];
  let [start, end] = [first, last];
  for (const [level, [grain]] of UNITS.entries()) {
    const coarser = grain === coarsest ? undefined : UNITS[level + 1];
    const middle = coarser && { start: ceilTo(start, coarser[1]), end: floorTo(end, coarser[1]) };
    if (middle === undefined || middle.start >= middle.end)
      return [...found, { grain, start, end }].filter(isSome);
    found.push({ grain, start, end: middle.start }, { grain, start: middle.end, end });
    [start, end] = [middle.start, middle.end];
  }
  return found.filter(isSome);
}

const isSome = ({ start, end }: Span): boolean => start < end;

/** The span must not be empty. */
export const rangeOf = ({ start, end }: Span): Range => ({ from: epochMs(start), to: epochMs(end - 1) });

/** Returns an empty span for null. */
export const spanOf = (range: Range | null): Span =>
  range === null ? NOTHING : { start: range.from, end: range.to + 1 };

/**
 * Where returning sessions of whole hours are counted: sessions in these hours whose `prev` lies in them too.
 * Each is counted in exactly one of three places.
 */
export interface ReturnsPlan {
  /** Sessions that start in the span, prev in the span: pairs of days. */
  readonly days: Span;
  /**
   * Sessions with prev in the span (the rest of the first day), that start before `hoursEnd`: facts by prev.
   */
  readonly byPrev: Span;
  /** Sessions that start in the span (the rest of the last day), prev ≥ `prevFrom`: facts by start. */
  readonly byStart: Span;
  readonly prevFrom: number;
  readonly hoursEnd: number;
}

/** Pairs of days cover whole days; single facts cover the rest of the first and the last day. */
export function planReturns({ sealed: { start, end } }: Plan): ReturnsPlan {
  const firstDay = ceilTo(start, DAY_MS);
  const lastDay = floorTo(end, DAY_MS);
  if (firstDay >= lastDay) {
    return { days: NOTHING, byPrev: NOTHING, byStart: { start, end }, prevFrom: start, hoursEnd: end };
  }
  return {
    days: { start: firstDay, end: lastDay },
    byPrev: { start, end: firstDay },
    byStart: { start: lastDay, end },
    prevFrom: firstDay,
    hoursEnd: end,
  };
}

const WIDE_MS = 3 * DAY_MS;

/** Whether a question reads enough to use all cores: an unsealed tail, or many buckets with many keys. */
export const isWide = ({ tail, sealed }: Plan): boolean =>
  tail !== null || sealed.end - sealed.start > WIDE_MS;
