import type { Series } from '../../answers/times.ts';
import type { SeriesQuestion } from '../../domain/interval.ts';
import { epochMs, type OpenRange, toIso } from '../../domain/time.ts';
import { sliceSums } from '../events/slices.ts';
import { eventTotalsOf } from '../events/totals.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { type Row, sumByKey } from '../memory/rows.ts';
import { pointsIn, withinData } from '../range/calendar.ts';
import { byStarts, type Grid } from '../range/grid.ts';
import { isEmpty } from '../range/sql.ts';
import { countSessions } from '../sessions/count.ts';
import { TOTALS, totalsOf } from '../sessions/measures.ts';
import { metricsOf } from './kpis.ts';
import { matchingSlices } from './matching-slices.ts';

export async function series(facts: AppFacts, range: OpenRange, question: SeriesQuestion): Promise<Series> {
  const bounded = withinData(facts.extent, range, question);
  if (bounded === null) return { ...question, points: [] };
  const starts = pointsIn(question, bounded).slice(0, -1);
  const grid = byStarts(bounded, starts);
  const { sessions, events } = await (facts.segment === null
    ? slicesOf(facts, grid)
    : matchingSlices(facts, grid));
  const [started, happened] = [sumByKey(sessions), sumByKey(events)];
  const points = starts.map((start) => ({
    start: toIso(epochMs(start)),
    ...metricsOf(totalsOf(started.get(`${start}`)), eventTotalsOf(happened.get(`${start}`))),
  }));
  return { interval: question.interval, timezone: question.timezone, points };
}

async function slicesOf(facts: AppFacts, grid: Grid) {
  const [sessions, events] = await Promise.all([
    sessionsOf(facts.sessions, grid),
    sliceSums(facts.pages, grid),
  ]);
  return { sessions, events };
}

/** Sealed sessions have no sums by the units of any calendar: all of them are counted. */
function sessionsOf(facts: SessionFacts, grid: Grid): Promise<Row[]> {
  const sealed = { start: grid.from, end: Math.min(grid.to + 1, facts.until) };
  return countSessions(facts, TOTALS, grid, isEmpty(sealed) ? [] : [sealed]);
}
