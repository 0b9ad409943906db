import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { identifier, quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import { MANIFEST, tablesOf } from './contents.ts';
import { ServiceStopped } from './engine-work.ts';

/** The part of ingestion that a copy needs. */
export type Stopping = Pick<Ingestion, 'pause' | 'underway'>;

/** A copy of the tables as they were at one moment. */
export interface Copied {
  readonly tables: number;
  /** How long ingestion waited. */
  readonly pauseMs: number;
}

const ATTEMPTS = 8;
/** For how long flushes may take to their end. Shorter than the pause. */
const SETTLING_MS = 12_000;
/** For how long deletions may take to their end, before ingestion is paused. */
const DELETIONS_MS = 120_000;
const POLL_MS = 20;

const IN = { lane: 'write' } as const;

/**
 * Changes with every insert and every deletion in these tables, and with nothing else: parts get growing numbers, and
 * a merge keeps the largest. `deletions`: those that have not reached every part.
 */
const STATE: Query<{ state: string; deletions: number }> = {
  name: 'backup: state of tables',
  sql: sql`SELECT
  (SELECT toString(groupBitXor(cityHash64(table, partition_id, newest, version))) FROM
    (SELECT table, partition_id, max(max_block_number) AS newest, max(data_version) AS version FROM system.parts
      WHERE database = currentDatabase() AND active AND table IN {tables:Array(String)} GROUP BY table, partition_id)) AS state,
  (SELECT toUInt32(count()) FROM system.mutations
    WHERE database = currentDatabase() AND NOT is_done AND table IN {tables:Array(String)}) AS deletions`,
  row: z.object({ state: z.string(), deletions: z.number() }),
};

const MANIFEST_COLUMNS = sql`(table String, rows UInt64, bytes UInt64, schema UInt32, made_at DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY table`;

/** One row for each table. */
const manifestOf = (database: string): Sql => sql`INSERT INTO ${identifier(database)}.${identifier(MANIFEST)}
SELECT t.name, sum(p.rows), sum(p.bytes_on_disk), (SELECT max(version) FROM schema_migrations), now64(3)
FROM system.tables AS t LEFT JOIN
  (SELECT table, rows, bytes_on_disk FROM system.parts WHERE database = ${quoted(database)} AND active) AS p ON p.table = t.name
WHERE t.database = ${quoted(database)} AND t.name != ${quoted(MANIFEST)} GROUP BY t.name`;

const erasing = (copy: string): Query<{ erasures: number }> => ({
  name: 'backup: visitors being erased',
  sql: sql`SELECT toUInt32(uniqExact(erasure_id) - uniqExactIf(erasure_id, ended = 1)) AS erasures FROM ${identifier(copy)}.erasures`,
  row: z.object({ erasures: z.number() }),
});

/**
 * Copies the tables of a backup into a new database, as they were at one moment. The copies share their files with
 * the originals (hard links), so this takes milliseconds for each table, and no space.
 *
 * Nothing is trusted but the store. The pause only makes a moment without writes likely: a process may be stopped
 * after it has looked for a pause, and go on during the copies. So the state of all tables is read before and after.
 * If it is equal, nothing was written in between, and all copies are of one moment. At this moment no flush is stored
 * in part: that is asked in between. Everything else in these tables can be interrupted at any moment anyway.
 * Otherwise the copies are dropped and made again. An erasure of a visitor cannot go on in a restored store, which has
 * none of its tokens, so a copy with one is dropped, too. Rejects with `ServiceStopped` soon after `signal` is aborted.
 */
export async function copyAtOneMoment(
  db: Database,
  ingestion: Stopping,
  copy: string,
  signal: AbortSignal,
): Promise<Copied> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tables = await tablesOf(db);
    await deletionsEnd(db, tables, signal);
    const pauseMs = await attemptCopy({ db, ingestion, copy, tables, signal });
    if (pauseMs !== null) return { tables: tables.length, pauseMs };
    await dropCopy(db, copy);
    await pauseFor(Math.random() * 500 * (attempt + 1), signal);
  }
  throw new AppError('overloaded', 'The tables were written to in every attempt. Try again shortly.');
}

export async function dropCopy(db: Database, copy: string): Promise<void> {
  await db.command('backup: drop copies', sql`DROP DATABASE IF EXISTS ${identifier(copy)} SYNC`, {}, IN);
}

interface Attempt {
  readonly db: Database;
  readonly ingestion: Stopping;
  readonly copy: string;
  readonly tables: readonly string[];
  readonly signal: AbortSignal;
}

/** Null if something was written meanwhile. */
async function attemptCopy({ db, ingestion, copy, tables, signal }: Attempt): Promise<number | null> {
  const of = (table: string): Sql => sql`${identifier(copy)}.${identifier(table)}`;
  await db.command('backup: create copies', sql`CREATE DATABASE ${identifier(copy)}`, {}, IN);
  const began = performance.now();
  const pause = await ingestion.pause();
  let isOneMoment = false;
  try {
    await awaitFlushes(ingestion, signal);
    const before = await db.queryOne(STATE, { tables }, IN);
    if ((await ingestion.underway()) > 0 || before.deletions > 0) return null;
    for (const table of tables) {
      if (signal.aborted) throw new ServiceStopped();
      await db.command(
        'backup: copy table',
        sql`CREATE TABLE ${of(table)} CLONE AS ${identifier(table)}`,
        {},
        IN,
      );
    }
    isOneMoment = (await db.queryOne(STATE, { tables }, IN)).state === before.state;
    // Meanwhile the first events of a store may have expired. Then facts belong to the backup.
    isOneMoment &&= (await tablesOf(db)).length === tables.length;
    const { erasures } = await db.queryOne(erasing(copy), {}, IN);
    if (erasures > 0)
      throw new AppError('overloaded', 'A visitor is being erased. Try again when that has ended.');
  } finally {
    // If this fails, the pause lapses.
    await pause.end().catch(() => undefined);
  }
  const pauseMs = performance.now() - began;
  if (!isOneMoment) return null;
  if (signal.aborted) throw new ServiceStopped();
  for (const table of tables) {
    // Merges of the copies would only take time and space.
    await db.command('backup: keep parts', sql`SYSTEM STOP MERGES ${of(table)}`, {}, IN);
  }
  await db.command('backup: manifest', sql`CREATE TABLE ${of(MANIFEST)} ${MANIFEST_COLUMNS}`, {}, IN);
  await db.command('backup: fill manifest', manifestOf(copy), {}, IN);
  return pauseMs;
}

async function awaitFlushes(ingestion: Stopping, signal: AbortSignal): Promise<void> {
  const until = performance.now() + SETTLING_MS;
  while ((await ingestion.underway()) > 0) {
    if (performance.now() > until) {
      throw new AppError(
        'overloaded',
        'A flush is stored in part, so a backup would have wrong figures. If its process stopped, another one completes it within two minutes: try again then. If "admin ingestion status" says that batches are held, a table refuses them: end the cause, run "admin ingestion repeat", and try again.',
      );
    }
    await pauseFor(POLL_MS, signal);
  }
}

async function deletionsEnd(db: Database, tables: readonly string[], signal: AbortSignal): Promise<void> {
  const until = performance.now() + DELETIONS_MS;
  while ((await db.queryOne(STATE, { tables }, IN)).deletions > 0) {
    if (performance.now() > until) {
      throw new AppError('overloaded', 'Rows are being deleted for minutes. Try again when that has ended.');
    }
    await pauseFor(POLL_MS * 10, signal);
  }
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) throw new ServiceStopped();
}
