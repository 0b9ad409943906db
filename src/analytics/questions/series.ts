import type { Series } from '../../answers/times.ts';
import type { SeriesQuestion } from '../../domain/interval.ts';
import { epochMs, type OpenRange, toIso } from '../../domain/time.ts';
import { eventTotalsOf } from '../events/totals.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { pointsIn, withinData } from '../range/calendar.ts';
import { byStarts } from '../range/grid.ts';
import { totalsOf } from '../sessions/measures.ts';
import { metricsOf } from './kpis.ts';
import { sumsBySlice } from './slices.ts';

export async function series(facts: AppFacts, range: OpenRange, question: SeriesQuestion): Promise<Series> {
  const bounded = withinData(facts.extent, range, question);
  if (bounded === null) return { ...question, points: [] };
  const starts = pointsIn(question, bounded).slice(0, -1);
  const grid = byStarts(bounded, starts);
  const { started, happened } = await sumsBySlice(facts, grid);
  const points = starts.map((start) => ({
    start: toIso(epochMs(start)),
    ...metricsOf(totalsOf(started.get(`${start}`)), eventTotalsOf(happened.get(`${start}`))),
  }));
  return { interval: question.interval, timezone: question.timezone, points };
}
