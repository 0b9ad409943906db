import { steadyAnalytics } from '../../bench/steady-analytics.ts';
import type { Analytics } from '../../src/analytics/answers/results.ts';
import type { Database } from '../../src/clickhouse/database.ts';
import type { AppId } from '../../src/domain/ids.ts';
import type { EpochMs } from '../../src/domain/time.ts';
import { seal } from '../../src/facts/pass.ts';
import { commitEvents } from './ledger.ts';
import { type TestStore, testStore } from './store.ts';

/** The columns that a test's events need. */
export const EVENT_COLUMNS = [
  'app_id',
  'timestamp',
  'session_id',
  'started_at',
  'type',
  'path',
  'duration_ms',
  'has_context',
  'visitor_id',
];

/** Opens a store with the same events of two apps. `twin` is never sealed: raw events answer for it. */
export async function storeOfTwins(
  { app, twin }: { readonly app: AppId; readonly twin: AppId },
  insert: (db: Database, id: AppId) => Promise<void>,
  now: EpochMs,
): Promise<{ readonly store: TestStore; readonly analytics: Analytics }> {
  const store = await testStore();
  for (const id of [app, twin]) await insert(store.db, id);
  await commitEvents(store.db, [app, twin]);
  await seal({ db: store.db, only: [app] }, now);
  return { store, analytics: steadyAnalytics({ db: store.db }) };
}
