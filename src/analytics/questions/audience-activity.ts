import { UNITS } from '../../answers/figures.ts';
import type { AudienceActivity } from '../../answers/times.ts';
import { TEHRAN } from '../../domain/tehran-clock.ts';
import { type EpochMs, toIso } from '../../domain/time.ts';
import { ratio } from '../answers/rounding.ts';
import type { AppFacts } from '../input/app-facts.ts';
import { activityWindow } from '../range/tehran.ts';
import { sumByCell, tehranHours } from './tehran-hours.ts';

/** How often each hour of a weekday occurs in 28 days without a clock change. */
const WEEKS = 4;

export async function audienceActivity(facts: AppFacts, now: EpochMs): Promise<AudienceActivity> {
  const range = activityWindow(now);
  const hours = await tehranHours(facts, range);
  const average = (counts: readonly number[]) =>
    counts.map((count) => ratio(count, WEEKS, UNITS.average.decimals));
  const days = sumByCell(hours, [1, 2, 3, 4, 5, 6, 7], ({ weekday }) => weekday).map(
    ([dayOfWeek, counts]) => ({
      dayOfWeek,
      sessions: average(counts.sessions),
      visitors: average(counts.visitors),
      pageviews: average(counts.pageviews),
    }),
  );
  return { timezone: TEHRAN, from: toIso(range.from), to: toIso(range.to), windowDays: 28, days };
}
