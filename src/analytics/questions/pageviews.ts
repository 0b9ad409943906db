import type { AppId } from '../../domain/ids.ts';
import { mapped } from '../../domain/lists.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type Asker, closed } from '../ask.ts';
import type { PageView } from '../results.ts';
import { PAGES } from './key-rows.ts';
import { keySums } from './keys.ts';
import { VIEWS } from './measures.ts';

export async function pageviews(
  { db, facts }: Asker,
  app: AppId,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<PageView>> {
  const page = await facts.pages();
  const asked = { db, facts: page, app, range: closed(range), group: PAGES, measures: VIEWS };
  const rows = await keySums(asked, limit);
  return mapped(rows, ({ name, events, sessions }) => ({
    path: name,
    views: events,
    uniqueSessions: sessions,
  }));
}
