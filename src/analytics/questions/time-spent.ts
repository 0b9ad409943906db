import type { TimeSpent } from '../../answers/rows.ts';
import { mapped } from '../../domain/lists.ts';
import type { OpenRange } from '../../domain/time.ts';
import { figureOf } from '../answers/rounding.ts';
import { type AppFacts, closed } from '../input/app-facts.ts';
import { keysIn } from '../lists/lists.ts';
import { nameOf, TIMES } from '../lists/pieces.ts';
import type { KeyQuestion } from '../lists/question.ts';

const TIME = { group: TIMES, sums: ['engagedMs', 'events', 'engagements'], listed: 'engagements' } as const;

export async function timeSpent(
  facts: AppFacts,
  range: OpenRange,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Iterable<TimeSpent>> {
  const asked: KeyQuestion = { ...TIME, facts, range: closed(range) };
  return mapped(await keysIn(asked, limit), ([pair, totalMs = 0, events = 0, engagements = 0]) => ({
    path: nameOf(pair),
    totalMs,
    averageMs: figureOf('averageMs', totalMs, events > 0 ? events : engagements),
  }));
}
