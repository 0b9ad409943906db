import { z } from 'zod';
import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { isWide, plan } from '../plan.ts';
import type { TimeSpent } from '../results.ts';
import { averageMs } from '../rounding.ts';
import { int } from '../sql.ts';
import { keyRows, lookBack, PAGES } from './keys.ts';

const ROW = z.object({ path: z.string(), totalMs: z.number(), views: z.number(), engagements: z.number() });

export async function timeSpent(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<TimeSpent[]> {
  const { page } = await watermarks(app);
  const pieces = plan(closed(range), page);
  const rows = keyRows(app, pieces, PAGES, await lookBack(db, app, pieces, PAGES));
  const sql = `SELECT toString(key) AS path, sum(r.engaged_ms) AS totalMs, sum(r.events) AS views, sum(r.engagements) AS engagements
FROM (${rows}) AS r
GROUP BY key HAVING engagements > 0
ORDER BY totalMs DESC, key
LIMIT ${int(limit)}`;
  const found = await db.query(
    { name: 'time spent', sql, row: ROW },
    {},
    {
      parallel: isWide(pieces),
    },
  );
  return found.map(({ path, totalMs, views, engagements }) => ({
    path,
    totalMs,
    averageMs: averageMs(totalMs, views > 0 ? views : engagements),
  }));
}
