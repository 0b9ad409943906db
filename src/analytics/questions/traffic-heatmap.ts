import type { TrafficHeatmap } from '../../answers/times.ts';
import { TEHRAN } from '../../domain/tehran-clock.ts';
import { type EpochMs, epochMs, HOUR_MS, toIso } from '../../domain/time.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { heatmapWindow, tehranTime } from '../range/tehran.ts';
import { sessionTotals } from '../sessions/totals.ts';
import { sumByCell, type TehranHour, tehranHours } from './tehran-hours.ts';

export async function trafficHeatmap(facts: AppFacts, now: EpochMs): Promise<TrafficHeatmap> {
  const { dates, range } = heatmapWindow(now);
  // Client clocks may be up to 5 min ahead. Their events of the next hour are shown when that hour has begun.
  const hours = (await tehranHours(facts, range)).filter(({ start }) => start <= now);
  const counted = await countedOnce(facts, hours);
  const days = sumByCell(counted, dates, ({ date }) => date).map(([date, counts]) => ({ date, ...counts }));
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), days };
}

/**
 * If two hours share a cell, a visitor of both counts once: the second hour keeps only the visitors that the
 * first does not have.
 */
async function countedOnce(facts: AppFacts, hours: readonly TehranHour[]): Promise<TehranHour[]> {
  const starts = new Map(hours.map((hour) => [hour.start, hour]));
  return Promise.all(
    hours.map(async (hour) => {
      const before = starts.get(epochMs(hour.start - HOUR_MS));
      if (before === undefined || tehranTime(before.start).hour !== tehranTime(hour.start).hour) return hour;
      const both = { from: before.start, to: epochMs(hour.start + HOUR_MS - 1) };
      const [{ visitors } = before] = await sessionTotals(facts, [both]);
      return { ...hour, visitors: visitors - before.visitors };
    }),
  );
}
