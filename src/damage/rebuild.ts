import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { readMigrations } from '../clickhouse/migrate.ts';
import { identifier, quoted, type Sql, sql, unchecked } from '../clickhouse/sql.ts';
import { FACTS, FACTS_STATE } from '../clickhouse/tables.ts';
import type { EpochMs } from '../domain/time.ts';
import { unseal } from '../facts/unseal.ts';
import { LEDGER_COLUMNS, ledgerRows } from '../ingestion/ledger-rows.ts';
import { sharingOf } from '../sharing/choose.ts';
import type { DamagedPart } from './damaged-parts.ts';
import { ROLL_UPS } from './losses.ts';

const SEAL = { lane: 'seal', maxSeconds: 86_400, maxMemoryBytes: 8 * 1024 ** 3 } as const;

const EXPIRED: Query<{ apps: number }> = {
  name: 'damage: expired events',
  sql: sql`SELECT toUInt32((SELECT count() FROM expired_events) + (SELECT countIf(v.horizon > 0) FROM sealing_verdicts AS v)) AS apps`,
  row: z.object({ apps: z.number() }),
};

/** Whether events have expired: facts and counts are then all that is left of them, and nothing can compute them again. */
export const haveExpired = async (db: Database): Promise<boolean> =>
  (await db.queryOne(EXPIRED, {}, { lane: 'seal', everyShard: true })).apps > 0;

/** Has all facts sealed again. Raw rows answer until then. Other processes may go on meanwhile. */
export const rebuildFacts = (db: Database, now: EpochMs): Promise<number> => unseal({ db }, now);

const MONTHS: Query<{ app: string; month: number }> = {
  name: 'damage: months of events',
  sql: sql`SELECT DISTINCT toString(app_id) AS app, toUInt32(toYYYYMM(started_at)) AS month FROM events ORDER BY app, month`,
  row: z.object({ app: z.string(), month: z.number() }),
};
const COLUMNS: Query<{ name: string }> = {
  name: 'damage: columns',
  sql: sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position`,
  row: z.object({ name: z.string() }),
};
const OF_MONTH = sql`app_id = {app:UUID} AND toYYYYMM(started_at) = {month:UInt32}`;
const VIEW = /^CREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\b/;

/**
 * Computes everything that is computed from events, from the events that are there. Nothing else may use the store
 * meanwhile, and no flush may be underway. Can be repeated from any step.
 */
export async function rebuildAll(db: Database): Promise<void> {
  // First the state: facts that nothing publishes are not read.
  for (const table of [...FACTS_STATE, ...FACTS, ...ROLL_UPS]) {
    // Unlike TRUNCATE, this also forgets the tokens of inserts.
    await db.command('damage: empty', sql`ALTER TABLE ${identifier(table)} DROP PARTITION ALL`, {}, SEAL);
  }
  const months = await db.query(MONTHS, {}, SEAL);
  for (const table of ['sessions', 'traffic']) {
    const columns = (await db.query(COLUMNS, { table }, SEAL)).map(({ name }) => name);
    const select = selectInto(table);
    for (const month of months) await db.insertFrom(table, columns, select, month, SEAL);
  }
  const times = sql`SELECT app_id, started_at, timestamp FROM events WHERE ${OF_MONTH}`;
  for (const month of months) {
    await db.insertFrom('ledger', LEDGER_COLUMNS, ledgerRows(times), month, SEAL);
    await sharingOf(db).countBegun(times, { ...month, sign: 1 }, SEAL);
  }
}

/** The statement of the view that fills this table, for the events of one month. */
function selectInto(table: string): Sql {
  const view = readMigrations()
    .flatMap(({ statements }) => statements)
    .find((statement) => VIEW.exec(statement)?.[2] === table);
  if (view === undefined) throw new Error(`No view fills ${table}.`);
  // The text is a migration's.
  return unchecked(
    view
      .replace(VIEW, '')
      .replace(/\bFROM events\b/, `FROM (SELECT * FROM events WHERE ${OF_MONTH}) AS events`),
  );
}

/** Deletes the files of damaged parts, for good. */
export async function dropDamaged(db: Database, parts: readonly DamagedPart[]): Promise<void> {
  for (const { database, table, part } of parts) {
    await db.command(
      'drop a damaged part',
      sql`ALTER TABLE ${identifier(database)}.${identifier(table)} DROP DETACHED PART ${quoted(part)} SETTINGS allow_drop_detached = 1`,
      {},
      SEAL,
    );
  }
}
