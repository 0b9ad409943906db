import type { SeriesQuestion } from '../domain/interval.ts';
import type { Scope } from '../domain/scope.ts';
import type { Dimension, Segment } from '../domain/segment.ts';
import {
  DAY_MS,
  type EpochMs,
  EVER,
  epochMs,
  type OpenRange,
  type Range,
  storedPart,
} from '../domain/time.ts';
import { closed } from './input/app-facts.ts';
import { UTC_DAYS, unitAt } from './range/calendar.ts';
import { realtimeWindow } from './range/ranges.ts';
import { activityWindow, heatmapWindow } from './range/tehran.ts';
import { asksForType } from './segments/conditions.ts';

/**
 * The basis of an answer: the data in `scope`, and `window`, which depends on the clock. If both are
 * unchanged, so is the answer.
 */
export interface Basis {
  readonly scope: Scope;
  readonly window: string;
  /** The end of the question's range of events, before which its scope does not end; null if it has none. */
  readonly end: EpochMs | null;
}

const basis = (
  events: Range | null,
  sessions: Range | null,
  window = '',
  end = events?.to ?? null,
): Basis => ({ scope: { events: stored(events), sessions: stored(sessions) }, window, end });

const stored = (range: Range | null): Range | null => (range === null ? null : storedPart(range));

const upTo = (to: EpochMs): Range => ({ from: EVER.from, to });

export const dataBoundsBasis = (): Basis => basis(null, EVER);

/** Pages and time spent: events only. */
export const eventsBasis = (range: OpenRange): Basis => basis(closed(range), null);

/** Events with the visitors of their sessions, which began up to 24 h before them. */
export function eventListBasis(range: OpenRange): Basis {
  const { from, to } = closed(range);
  return basis({ from, to }, { from: epochMs(from - DAY_MS), to });
}

/** Locations and UTM: sessions that started in the range, with all their events. */
export const sessionsBasis = (range: OpenRange): Basis => basis(null, closed(range));

/** Whether a visitor is new depends on all earlier sessions. */
export const overviewBasis = (range: OpenRange): Basis => basis(closed(range), upTo(closed(range).to));

/** Covers both periods. The window is the period itself, which can follow the clock. */
export function kpisBasis(current: Range): Basis {
  const both = { from: epochMs(2 * current.from - current.to - 1), to: current.to };
  return basis(both, both, `${current.from}-${current.to}`);
}

export const growthBasis = (range: OpenRange): Basis => seriesBasis(range, UTC_DAYS);

/** An omitted `from` means the first unit with data. It can be the unit of `to`, with data only after `to`. */
export function seriesBasis(range: OpenRange, question: SeriesQuestion): Basis {
  const { from, to } = closed(range);
  const isOpen = range.from === null && range.to !== null;
  const units = { from, to: isOpen ? epochMs(unitAt(question, to).end - 1) : to };
  return basis(units, units, '', to);
}

/** Whether a visitor is new depends on all earlier sessions. */
export const breakdownBasis = (range: OpenRange, by: Dimension): Basis =>
  by === 'visitorType' ? basis(null, upTo(closed(range).to)) : sessionsBasis(range);

/** The sessions of the events began within the 24 h before these. */
export function realtimeBasis(now: EpochMs): Basis {
  const range = realtimeWindow(now);
  return basis(range, { from: epochMs(range.from - DAY_MS), to: range.to }, `${range.from}`);
}

/** Future hours are 0, so the answer changes with the hour. */
export function heatmapBasis(now: EpochMs): Basis {
  const { range } = heatmapWindow(now);
  return basis(range, range, `${range.from}-${activityWindow(now).to}`);
}

export function activityBasis(now: EpochMs): Basis {
  const range = activityWindow(now);
  return basis(range, range, `${range.from}`);
}

/**
 * The basis of the same question with a segment. An event counts if its session matches, as a whole; a session that has events
 * in the range began within the 24 h before it, or in it. Whether a visitor is new depends on all earlier sessions.
 */
export function basisOf(whole: Basis, segment: Segment | null): Basis {
  if (segment === null) return whole;
  const { events, sessions } = whole.scope;
  const ranges = [
    ...(sessions === null ? [] : [sessions]),
    ...(events === null ? [] : [{ from: epochMs(events.from - DAY_MS), to: events.to }]),
  ];
  const from = asksForType(segment) ? EVER.from : Math.min(...ranges.map((range) => range.from));
  const to = Math.max(...ranges.map((range) => range.to));
  return { ...whole, scope: { events, sessions: stored({ from: epochMs(from), to: epochMs(to) }) } };
}
