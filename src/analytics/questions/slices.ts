import { sliceSums } from '../events/slices.ts';
import type { AppFacts, SessionFacts } from '../input/app-facts.ts';
import { type Row, sumByKey } from '../memory/rows.ts';
import type { Grid } from '../range/grid.ts';
import { isEmpty } from '../range/sql.ts';
import { countSessions } from '../sessions/count.ts';
import { TOTALS } from '../sessions/measures.ts';
import { matchingSlices } from './matching-slices.ts';

/** Returns the totals of sessions and the sums of events by slice. `count`: counts the sessions if there is no segment. */
export async function sumsBySlice(facts: AppFacts, grid: Grid, count = countEach) {
  const { sessions, events } = await (facts.segment === null
    ? allSlices(facts, grid, count)
    : matchingSlices(facts, grid));
  return { started: sumByKey(sessions), happened: sumByKey(events) };
}

async function allSlices(facts: AppFacts, grid: Grid, count: typeof countEach) {
  const [sessions, events] = await Promise.all([count(facts.sessions, grid), sliceSums(facts.pages, grid)]);
  return { sessions, events };
}

/** Counts sessions one by one, because sealed sessions have no sums by the units of any calendar. */
export function countEach(facts: SessionFacts, grid: Grid): Promise<Row[]> {
  const sealed = { start: grid.from, end: Math.min(grid.to + 1, facts.until) };
  return countSessions(facts, TOTALS, grid, isEmpty(sealed) ? [] : [sealed]);
}
