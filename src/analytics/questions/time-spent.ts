import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import type { TimeSpent } from '../results.ts';
import { averageMs } from '../rounding.ts';
import { keySums, type Measures, PAGES } from './keys.ts';

const TIME: Measures = ['engaged_ms', 'events', 'engagements'];

export async function timeSpent(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<TimeSpent[]> {
  const { page } = await facts(app);
  const found: TimeSpent[] = [];
  for (const [, path, totalMs = 0, views = 0, engagements = 0] of await keySums(
    db,
    page,
    app,
    closed(range),
    PAGES,
    TIME,
  )) {
    if (found.length === limit) break;
    // Pages that were viewed and never engaged with are not listed; an engagement may have lasted 0 ms.
    if (engagements === 0) continue;
    found.push({ path, totalMs, averageMs: averageMs(totalMs, views > 0 ? views : engagements) });
  }
  return found;
}
