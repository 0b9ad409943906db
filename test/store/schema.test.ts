import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Query } from '../../src/clickhouse/database.ts';
import { type Migration, migrate, readMigrations } from '../../src/clickhouse/migrate.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import { onEachBackend } from '../support/backends.ts';

onEachBackend((on) => {
  test('migrations are applied once, in order', async () => {
    expect(await migrate(on.db)).toEqual([]);
    const { versions } = await on.db.queryOne(VERSIONS);
    expect(versions).toEqual(readMigrations().map(({ version }) => version));
  });

  test('every table syncs inserted and merged parts to the disk', async () => {
    const { unsynced, tables } = await on.db.queryOne(UNSYNCED);
    expect(unsynced).toEqual([]);
    expect(tables).toBeGreaterThan(25);
  });

  test('an edited migration and an unknown one are refused', async () => {
    const [first, ...rest] = readMigrations() as [Migration, ...Migration[]];
    await expect(migrate(on.db, [{ ...first, checksum: 'edited' }, ...rest])).rejects.toThrow('was edited');
    await expect(migrate(on.db, rest)).rejects.toThrow('does not know');
  });
});

const VERSIONS: Query<{ versions: number[] }> = {
  name: 'versions',
  sql: sql`SELECT arraySort(groupArray(version)) AS versions FROM schema_migrations`,
  row: z.object({ versions: z.array(z.number()) }),
};

const UNSYNCED: Query<{ unsynced: string[]; tables: number }> = {
  name: 'unsynced tables',
  sql: sql`
    SELECT toUInt32(count()) AS tables, groupArrayIf(name, NOT (engine_full LIKE '%fsync_after_insert = 1%'
      AND engine_full LIKE '%fsync_part_directory = 1%'
      AND engine_full LIKE '%min_compressed_bytes_to_fsync_after_merge = 1%')) AS unsynced
    FROM system.tables
    WHERE startsWith(database, currentDatabase()) AND engine LIKE '%MergeTree'`,
  row: z.object({ unsynced: z.array(z.string()), tables: z.number() }),
};
