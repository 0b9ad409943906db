import type { AppId } from '../../domain/ids.ts';
import { mapped } from '../../domain/lists.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import type { TimeSpent } from '../results.ts';
import { figureOf } from '../rounding.ts';
import { TIMES } from './key-rows.ts';
import { keySums } from './keys.ts';
import { TIME } from './measures.ts';

export async function timeSpent(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<TimeSpent>> {
  const page = await facts.pages();
  const asked = { db, facts: page, app, range: closed(range), group: TIMES, measures: TIME };
  const rows = await keySums(asked, limit);
  return mapped(rows, ({ name, engagedMs, events, engagements }) => ({
    path: name,
    totalMs: engagedMs,
    averageMs: figureOf('averageMs', engagedMs, events > 0 ? events : engagements),
  }));
}
