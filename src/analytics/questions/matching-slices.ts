import type { Range } from '../../domain/time.ts';
import { crossingEvents, eventsWithin } from '../events/matching.ts';
import type { AppFacts } from '../input/app-facts.ts';
import type { Row } from '../memory/rows.ts';
import type { Grid } from '../range/grid.ts';
import { countMatching } from '../sessions/matching.ts';
import { TOTALS } from '../sessions/measures.ts';

/**
 * Returns the totals of the matching sessions and the sums of their events, by slice; of events, a slice can have two rows. One
 * statement counts sessions and the events of those within one slice. `asked`: see `Matching`.
 */
export async function matchingSlices(
  facts: AppFacts,
  grid: Grid,
  asked: readonly Range[] = [grid],
): Promise<{ readonly sessions: Row[]; readonly events: Row[] }> {
  const ofEvents = eventsWithin(grid);
  const measure = { ...TOTALS, values: [...ofEvents, ...TOTALS.values] };
  const [counted, crossing] = await Promise.all([
    countMatching(facts, measure, grid, false, asked),
    crossingEvents(facts, grid, asked),
  ]);
  const within = counted.map(([name, , ...sums]): Row => [name, ...sums.slice(0, ofEvents.length)]);
  return {
    sessions: counted.map(([name, sessions = 0, ...sums]) => [
      name,
      sessions,
      ...sums.slice(ofEvents.length),
    ]),
    events: [...within, ...crossing],
  };
}
