import { decimalsOf, KPI_FIGURES, UNITS } from '../../answers/figures.ts';
import type { KpiComparison, KpiMetrics, KpiPeriod } from '../../answers/kpis.ts';
import { epochMs, type Range, toIso } from '../../domain/time.ts';
import { figureOf, lastPlaces, ratio } from '../answers/rounding.ts';
import { type EventTotals, eventTotals, eventTotalsOf } from '../events/totals.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { sumByKey } from '../memory/rows.ts';
import { byPeriod } from '../range/grid.ts';
import { type SessionTotals, totalsOf } from '../sessions/measures.ts';
import { sessionTotals } from '../sessions/totals.ts';
import { matchingSlices } from './matching-slices.ts';

export async function kpis(facts: AppFacts, current: Range): Promise<KpiComparison> {
  const length = current.to - current.from + 1;
  const previous = { from: epochMs(current.from - length), to: epochMs(current.from - 1) };
  const periods = [previous, current];
  const [sessions, events] = await (facts.segment === null
    ? Promise.all([sessionTotals(facts, periods), eventTotals(facts.events, periods)])
    : matchingTotals(facts, previous, current));
  const [before, now] = periods.map((range, i) => period(range, sessions[i], events[i]));
  if (before === undefined || now === undefined) throw new Error('kpis: a period is missing');
  return { current: now, previous: before, ...compare(now, before) };
}

async function matchingTotals(facts: AppFacts, previous: Range, current: Range) {
  const periods = [previous, current];
  const slices = await matchingSlices(facts, byPeriod(previous, current), periods);
  const [sessions, events] = [sumByKey(slices.sessions), sumByKey(slices.events)];
  return [
    periods.map((_, i) => totalsOf(sessions.get(`${i}`))),
    periods.map((_, i) => eventTotalsOf(events.get(`${i}`))),
  ] as const;
}

function period(
  range: Range,
  sessions: SessionTotals | undefined,
  events: EventTotals | undefined,
): KpiPeriod | undefined {
  if (sessions === undefined || events === undefined) return undefined;
  return {
    from: toIso(range.from),
    to: toIso(range.to),
    ...metricsOf(sessions, events),
  };
}

export const metricsOf = (sessions: SessionTotals, events: EventTotals): KpiMetrics => ({
  sessions: sessions.sessions,
  visitors: sessions.visitors,
  pageviews: events.pageviews,
  clicks: events.clicks,
  errors: events.errors,
  bounceRate: figureOf('bounceRate', sessions.bounces, sessions.sessions),
  averageSessionDurationMs: figureOf('averageSessionDurationMs', sessions.durationMs, sessions.sessions),
  pagesPerSession: figureOf('pagesPerSession', sessions.pageviews, sessions.sessions),
});

/**
 * Computes differences and percentages of the rounded figures, in integer units of the last decimal, so that
 * no float misrounds.
 */
function compare(now: KpiMetrics, before: KpiMetrics): Pick<KpiComparison, 'change' | 'changePercent'> {
  const change: Record<string, number> = {};
  const changePercent: Record<string, number | null> = {};
  for (const metric of KPI_FIGURES) {
    const decimals = decimalsOf(metric);
    const previous = lastPlaces(before[metric], decimals);
    const difference = lastPlaces(now[metric], decimals) - previous;
    change[metric] = difference / 10 ** decimals;
    changePercent[metric] = previous === 0 ? null : ratio(difference * 100, previous, UNITS.percent.decimals);
  }
  return { change: change as never, changePercent: changePercent as never };
}
