import type { AppId } from '../../domain/ids.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import type { PageView } from '../results.ts';
import { keySums, type Measures, PAGES } from './keys.ts';

/** The extended overview lists pages by the same. */
export const VIEWS: Measures = ['events', 'sessions'];

export async function pageviews(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<PageView[]> {
  const { page } = await facts(app);
  const found: PageView[] = [];
  for (const [, path, views = 0, uniqueSessions = 0] of await keySums(
    db,
    page,
    app,
    closed(range),
    PAGES,
    VIEWS,
  )) {
    if (views === 0 || found.length === limit) break;
    found.push({ path, views, uniqueSessions });
  }
  return found;
}
