import { DAY_MS, type EpochMs, epochMs, type OpenRange, type Range, utcDayStart } from '../domain/time.ts';
import type { Scope } from '../facts/watermarks.ts';
import { closed } from './ask.ts';
import { activityWindow, heatmapWindow } from './tehran.ts';

/**
 * What the answer to a question rests on: the data in `scope`, and `window`, what the clock says of it. Where both are as
 * they were, so is the answer.
 */
export interface Basis {
  readonly scope: Scope;
  readonly window: string;
}

const basis = (events: Range | null, sessions: Range | null, window = ''): Basis => ({
  scope: { events, sessions },
  window,
});

const ever = closed({ from: null, to: null });
const upTo = (to: EpochMs): Range => ({ from: ever.from, to });

export const dataBoundsBasis = (): Basis => basis(null, ever);

/** Pages and time spent: events alone. */
export const eventsBasis = (range: OpenRange): Basis => basis(closed(range), null);

/** Locations and UTM: the sessions that started in the range, with all their events. */
export const sessionsBasis = (range: OpenRange): Basis => basis(null, closed(range));

/** Whether a visitor is new depends on all that came before. */
export const overviewBasis = (range: OpenRange): Basis => basis(closed(range), upTo(closed(range).to));

/** Both periods; the window is the period itself, which can follow the clock. */
export function kpisBasis(current: Range): Basis {
  const both = { from: epochMs(2 * current.from - current.to - 1), to: current.to };
  return basis(both, both, `${current.from}-${current.to}`);
}

/** An omitted `from` is the first day with data, which can be the day of `to`, after it. */
export function growthBasis(range: OpenRange): Basis {
  const { from, to } = closed(range);
  const days = { from, to: range.from === null ? epochMs(utcDayStart(to) + DAY_MS - 1) : to };
  return basis(days, days);
}

/** Hours to come are 0: another hour, another answer. */
export function heatmapBasis(now: EpochMs): Basis {
  const { range } = heatmapWindow(now);
  return basis(range, range, `${range.from}-${activityWindow(now).to}`);
}

export function activityBasis(now: EpochMs): Basis {
  const range = activityWindow(now);
  return basis(range, range, `${range.from}`);
}
