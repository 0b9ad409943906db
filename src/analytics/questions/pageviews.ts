import { z } from 'zod';
import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import { isWide, plan } from '../plan.ts';
import type { PageView } from '../results.ts';
import { int } from '../sql.ts';
import { keyRows, lookBack, PAGES } from './keys.ts';

const ROW = z.object({ path: z.string(), views: z.number(), uniqueSessions: z.number() });

export async function pageviews(
  { db, watermarks }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<PageView[]> {
  const { page } = await watermarks(app);
  const pieces = plan(closed(range), page);
  const rows = keyRows(app, pieces, PAGES, await lookBack(db, app, pieces, PAGES));
  const sql = `SELECT toString(key) AS path, sum(r.events) AS views, sum(r.sessions) AS uniqueSessions
FROM (${rows}) AS r
GROUP BY key HAVING views > 0
ORDER BY views DESC, key
LIMIT ${int(limit)}`;
  return db.query({ name: 'pageviews', sql, row: ROW }, {}, { parallel: isWide(pieces) });
}
