import { z } from 'zod';
import { dateTime64, type Query } from '../clickhouse/database.ts';
import { type AppId, appId } from '../domain/ids.ts';
import { type EpochMs, MINUTE_MS } from '../domain/time.ts';
import { type Apps, appLock } from './apps.ts';
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

const COLUMNS = `toString(app_id) AS id, toUnixTimestamp64Milli(deleted_at) AS deletedAt,
  toUnixTimestamp64Milli(erased_at) AS erasedAt, version`;
const Row = z.object({
  id: z.string().transform(appId),
  deletedAt: Instant,
  erasedAt: Instant.nullable(),
  version: Version,
});

const DELETION: Query<DeletionRow> = {
  name: 'deletion of app',
  sql: `SELECT ${COLUMNS} FROM deleted_apps FINAL WHERE app_id = {app:UUID}`,
  row: Row,
};

const UNFINISHED: Query<DeletionRow> = {
  name: 'unfinished deletions',
  sql: `SELECT ${COLUMNS} FROM deleted_apps FINAL WHERE erased_at IS NULL ORDER BY deleted_at`,
  row: Row,
};

/** The tables in the order of deletion: the app's own row first, raw events before their facts. */
const TABLES: Query<{ table: string }> = {
  name: 'tables with data of apps',
  sql: `SELECT table FROM system.columns
WHERE database = currentDatabase() AND name = 'app_id' AND table != 'deleted_apps'
  AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
ORDER BY table = 'apps' DESC, table = 'events' DESC, table`,
  row: z.object({ table: z.string() }),
};

const ROWS_OF_APP: Query<{ found: number }> = {
  name: 'rows of app in table',
  sql: 'SELECT count() AS found FROM {table:Identifier} WHERE app_id = {app:UUID}',
  row: z.object({ found: z.int() }),
};

export type Deletions = ReturnType<typeof deletionsIn>;

export function deletionsIn({ db, clock, elapsed, locks, nextVersion }: MetadataParts, apps: Apps) {
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

  /** Erases rows on the sealer's lane, so that neither readers nor ingestion wait. */
  const eraseRows = async (id: AppId): Promise<void> => {
    for (const { table } of await db.query(TABLES)) {
      const { found } = await db.queryOne(ROWS_OF_APP, { table, app: id });
      if (found === 0) continue;
      await db.command(
        `delete from ${table}`,
        'DELETE FROM {table:Identifier} WHERE app_id = {app:UUID} SETTINGS lightweight_deletes_sync = 2',
        { table, app: id },
        { lane: 'seal' },
      );
    }
  };

  /**
   * Erases an app's rows. The deletion is finished only by a pass that began after the last row could have
   * arrived.
   */
  const erase = async (deletion: DeletionRow): Promise<void> => {
    const { id, version } = deletion;
    const startedAt = elapsed();
    const since = knownSince.get(id) ?? startedAt;
    knownSince.set(id, since);
    await eraseRows(id);
    if (startedAt - since < SETTLED_MS) return;
    await write({ ...deletion, erasedAt: clock(), version: nextVersion(version) });
    knownSince.delete(id);
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
    /** Ends the app at once. `resumeDeletions` erases its data. */
    endApp,

    /** Ends the app at once, then erases its data. A repeated call resumes an interrupted deletion. */
    async deleteApp(id: AppId): Promise<void> {
      await erase(await endApp(id));
    },

    /** Resumes every unfinished deletion. Returns how many are still unfinished. */
    async resumeDeletions(): Promise<number> {
      for (const deletion of await db.query(UNFINISHED)) await erase(deletion);
      return (await db.query(UNFINISHED)).length;
    },
  };
}
