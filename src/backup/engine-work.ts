import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { quoted, type Sql, sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { messageOf } from '../domain/thrown.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** For how long the store may not answer while it works. */
const PATIENCE_MS = 60_000;
const ENDING_MS = 10_000;

const State = z.object({
  status: z.string(),
  error: z.string(),
  bytes: z.number(),
  query: z.string(),
});

const STATE: Query<z.infer<typeof State>> = {
  name: 'backup: state',
  sql: sql`SELECT toString(status) AS status, error, toUInt64(total_size) AS bytes, query_id AS query
FROM system.backups WHERE id = {id:String}`,
  row: State,
};

/**
 * Lets the engine make or read a backup, and waits for it. No statement runs for that long, so no limit of a
 * statement ends it. Resolves to the size of the backup's files. Rejects with the engine's words if it fails, and
 * ends it if `signal` is aborted.
 */
export async function engineWork(
  db: Database,
  name: string,
  statement: Sql,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const id = randomUUID();
  const separator = statement.includes(' SETTINGS ') ? sql`,` : sql` SETTINGS`;
  await db.command(name, sql`${statement}${separator} id = ${quoted(id)} ASYNC`).catch((error: unknown) => {
    throw refusal(error);
  });
  let pause = FIRST_PAUSE_MS;
  let silentSince: number | null = null;
  for (;;) {
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return cancelled(db, id);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    try {
      const [state] = await db.query(STATE, { id }, { lane: 'lookup' });
      silentSince = null;
      if (state === undefined) throw new EngineRefusal('The store was restarted meanwhile.');
      if (/FAILED|CANCELLED/.test(state.status)) throw refusal(new Error(state.error));
      if (/^(BACKUP_CREATED|RESTORED)$/.test(state.status)) return state.bytes;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      silentSince ??= performance.now();
      if (performance.now() - silentSince > PATIENCE_MS) throw error;
    }
  }
}

/** The engine does not make or read a backup; the message is for the operator. */
export class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
}

/** The service stops, so it does not go on with a backup. */
export class ServiceStopped extends EngineRefusal {
  constructor() {
    super('The service was stopped.');
  }
}

/** Ends the engine's work in the background, and waits for that for some seconds. */
async function cancelled(db: Database, id: string): Promise<never> {
  const until = performance.now() + ENDING_MS;
  for (let isKilled = false; performance.now() < until; ) {
    const [state] = await db.query(STATE, { id }, { lane: 'lookup' });
    if (state === undefined || !/^(CREATING_BACKUP|RESTORING)$/.test(state.status)) break;
    if (!isKilled) {
      await db.command('backup: end', sql`KILL QUERY WHERE query_id = {query:String} ASYNC`, {
        query: state.query,
      });
    }
    isKilled = true;
    await sleep(FIRST_PAUSE_MS);
  }
  throw new ServiceStopped();
}

function refusal(error: unknown): Error {
  const cause = error instanceof AppError ? error.cause : error;
  return new EngineRefusal(firstWords(messageOf(cause)), {
    cause: error,
  });
}

/** The engine's message without its number, its name in capitals and the stack. */
const firstWords = (text: string): string =>
  (text.split(', Stack trace')[0] ?? '')
    .replace(/^Code: \d+\. DB::Exception: /, '')
    .replace(/\s*\([A-Z_]+\)\s*(\(version.*\))?\s*$/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300);
