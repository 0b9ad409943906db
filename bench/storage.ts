import { z } from 'zod';
import type { Database } from '../src/clickhouse/database.ts';
import { sql } from '../src/clickhouse/sql.ts';
import { ALL_SESSIONS } from './generate.ts';
import { USUAL_TABLES } from './usual/tables.ts';

/** Bytes on disk of a group of tables. */
export interface Storage {
  readonly group: string;
  readonly bytes: number;
  readonly rows: number;
  readonly parts: number;
}

const TABLES: Readonly<Record<string, readonly string[]>> = {
  raw: ['events'],
  rollups: ['sessions', 'kept_sessions', 'traffic', 'ledger'],
  'page facts': ['page_facts', 'revisits', 'event_quarters'],
  'label facts': ['label_facts'],
};
/** Tables of the benchmark itself, and small bookkeeping that is neither data nor facts. */
const OTHERS: readonly string[] = [...ALL_SESSIONS, ...USUAL_TABLES, 'schema_migrations'];

const PARTS_ROW = z.object({ table: z.string(), bytes: z.number(), rows: z.number(), parts: z.number() });

export async function storageByTable(db: Database): Promise<z.infer<typeof PARTS_ROW>[]> {
  const found = await db.query({
    name: 'storage',
    sql: sql`SELECT table, sum(bytes_on_disk) AS bytes, sum(p.rows) AS rows, count() AS parts FROM system.parts AS p
WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC`,
    row: PARTS_ROW,
  });
  return found.filter(({ table }) => !OTHERS.includes(table));
}

/** Groups the tables: raw, rollups, facts of pages, facts of labels, and the rest: session facts. */
export async function storage(db: Database): Promise<Storage[]> {
  const tables = await storageByTable(db);
  const groupOf = (table: string): string =>
    Object.entries(TABLES).find(([, names]) => names.includes(table))?.[0] ?? 'session facts';
  return [...Object.keys(TABLES), 'session facts'].map((group) => {
    const members = tables.filter(({ table }) => groupOf(table) === group);
    const sum = (key: 'bytes' | 'rows' | 'parts') =>
      members.reduce((total, member) => total + member[key], 0);
    return { group, bytes: sum('bytes'), rows: sum('rows'), parts: sum('parts') };
  });
}
