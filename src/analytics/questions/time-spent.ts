import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import type { TimeSpent } from '../results.ts';
import { averageMs } from '../rounding.ts';
import { PAGES } from './key-rows.ts';
import { keySums, TIME } from './keys.ts';

export async function timeSpent(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<TimeSpent[]> {
  const { page } = await facts(app);
  const found: TimeSpent[] = [];
  for (const { name, engagedMs, events, engagements } of await keySums({
    db,
    facts: page,
    app,
    range: closed(range),
    group: PAGES,
    measures: TIME,
  })) {
    if (found.length === limit) break;
    // Pages that were viewed and never engaged with are not listed; an engagement may have lasted 0 ms.
    if (engagements === 0) continue;
    found.push({
      path: name,
      totalMs: engagedMs,
      averageMs: averageMs(engagedMs, events > 0 ? events : engagements),
    });
  }
  return found;
}
