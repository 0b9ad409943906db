import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { ofApps } from '../clickhouse/literals.ts';
import { sql } from '../clickhouse/sql.ts';
import { type AppId, appId } from '../domain/ids.ts';
import { type EpochMs, MINUTE_MS } from '../domain/time.ts';
import { type Apps, appLock } from './apps.ts';
import { eraseApps } from './erasing.ts';
import { APP_LISTS, Instant, instantColumn, type MetadataParts, Version } from './rows.ts';

/**
 * How long rows of an app can still arrive after its end: from batches that were accepted just before, from a
 * process whose cache still knew the app, and from facts computed from these rows.
 */
const SETTLED_MS = 2 * MINUTE_MS;

interface DeletionRow {
  readonly id: AppId;
  readonly deletedAt: EpochMs;
  readonly erasedAt: EpochMs | null;
  readonly version: number;
}

const COLUMNS = sql`toString(app_id) AS id, toUnixTimestamp64Milli(deleted_at) AS deletedAt,
  toUnixTimestamp64Milli(erased_at) AS erasedAt, version`;
const Row = z.object({
  id: z.string().transform(appId),
  deletedAt: Instant,
  erasedAt: Instant.nullable(),
  version: Version,
});

const DELETION: Query<DeletionRow> = {
  name: 'deletion of app',
  sql: sql`SELECT ${COLUMNS} FROM deleted_apps FINAL WHERE app_id = {app:UUID}`,
  row: Row,
};

const UNFINISHED: Query<DeletionRow> = {
  name: 'unfinished deletions',
  sql: sql`SELECT ${COLUMNS} FROM deleted_apps FINAL WHERE erased_at IS NULL ORDER BY deleted_at`,
  row: Row,
};

/** Apps whose rows are to be erased. The engine notes a statement's text, so it names no app. */
const DOOMED = sql`app_id IN (SELECT app_id FROM deleted_apps FINAL WHERE erased_at IS NULL)`;

export type Deletions = ReturnType<typeof deletionsIn>;

export function deletionsIn(
  { db, clock, elapsed, locks, nextVersion }: MetadataParts,
  apps: Apps,
  onErased: (app: AppId) => void,
) {
  /** When this process first saw each deletion, by a monotonic clock. */
  const knownSince = new Map<AppId, number>();

  const write = async ({ id, deletedAt, erasedAt, version }: DeletionRow): Promise<void> => {
    try {
      await db.insert(
        'deleted_apps',
        [{ app_id: id, deleted_at: dateTime64(deletedAt), erased_at: instantColumn(erasedAt), version }],
        { about: [APP_LISTS] },
      );
    } finally {
      apps.invalidate(id);
    }
  };

  /**
   * Erases the rows of every app whose deletion is unfinished. A deletion is finished only by a pass that began
   * after the last row could have arrived.
   */
  const erase = async (): Promise<void> => {
    const startedAt = elapsed();
    const open = await db.query(UNFINISHED);
    if (open.length === 0) return;
    for (const { id } of open) {
      if (!knownSince.has(id)) knownSince.set(id, startedAt);
      onErased(id);
    }
    // On a cluster only the first shard knows which apps are deleted.
    const doomed = db.shards.database === null ? DOOMED : ofApps(open.map(({ id }) => id));
    await eraseApps(db, doomed);
    for (const deletion of open) {
      const { id, version } = deletion;
      if (startedAt - (knownSince.get(id) ?? startedAt) < SETTLED_MS) continue;
      await write({ ...deletion, erasedAt: clock(), version: nextVersion(version) });
      knownSince.delete(id);
    }
  };

  const endApp = (id: AppId): Promise<DeletionRow> =>
    locks.withLock(appLock(id), async () => {
      const [known] = await db.query(DELETION, { app: id });
      if (known !== undefined) return known;
      await apps.get(id);
      const row: DeletionRow = { id, deletedAt: clock(), erasedAt: null, version: nextVersion() };
      await write(row);
      return row;
    });

  return {
    /** Ends the app at once. `erase` erases its data. */
    endApp,

    erase,

    /** Ends the app at once, then erases its data. A repeated call resumes an interrupted deletion. */
    async deleteApp(id: AppId): Promise<void> {
      await endApp(id);
      await erase();
    },

    /** Resumes every unfinished deletion. Returns how many are still unfinished. */
    async resumeDeletions(): Promise<number> {
      await erase();
      return (await db.query(UNFINISHED)).length;
    },
  };
}
