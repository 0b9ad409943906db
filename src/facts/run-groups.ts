import type { Database } from '../clickhouse/database.ts';
import type { FactKind } from '../domain/fact-kinds.ts';
import { Run } from './runs.ts';

/** Limit of one run. */
const MAX_APPS = 500;

/** Splits apps into groups of which one run seals each: on one shard, and not too many. */
export function groupsOfRuns<T>({ shards }: Database, apps: readonly T[], idOf: (app: T) => string): T[][] {
  const groups = Array.from({ length: shards.count }, (): T[] => []);
  for (const app of apps) groups[shards.of(idOf(app))]?.push(app);
  return groups.flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MAX_APPS) }, (_, i) =>
      group.slice(i * MAX_APPS, (i + 1) * MAX_APPS),
    ),
  );
}

/** Opens runs for `work` and ends them, also if it fails. */
export async function withRuns<T>(
  db: Database,
  kind: FactKind,
  apps: readonly string[],
  count: 1 | 2,
  work: (run: Run, other: Run) => Promise<T>,
): Promise<T> {
  const runs = await Run.open(db, kind, apps, count);
  try {
    return await work(runs[0] as Run, runs.at(-1) as Run);
  } finally {
    // If this fails, the next run of these apps declares them dead.
    await Promise.allSettled(runs.map((run) => run.end()));
  }
}

export const appsOf = (states: readonly { readonly app: string }[]): string[] => states.map(({ app }) => app);
