import type { PageView } from '../../answers/rows.ts';
import { mapped } from '../../domain/lists.ts';
import type { OpenRange } from '../../domain/time.ts';
import { type AppFacts, closed } from '../input/app-facts.ts';
import { keysIn } from '../lists/lists.ts';
import { nameOf, PAGES } from '../lists/pieces.ts';
import type { KeyQuestion } from '../lists/question.ts';

const VIEWS = { group: PAGES, sums: ['events', 'sessions'], listed: 'events' } as const;

export async function pageviews(
  facts: AppFacts,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<PageView>> {
  const asked: KeyQuestion = { ...VIEWS, facts, range: closed(range) };
  return mapped(await keysIn(asked, limit), ([pair, views = 0, uniqueSessions = 0]) => ({
    path: nameOf(pair),
    views,
    uniqueSessions,
  }));
}
