import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Database, dateTime64, type Query } from '../clickhouse/database.ts';
import { identifier, quoted, sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { isNoRoom } from '../domain/no-room.ts';
import { messageOf } from '../domain/thrown.ts';
import { type Clock, DAY_MS, epochMs, toIso } from '../domain/time.ts';
import { sharingOf } from '../sharing/choose.ts';
import { assertNoCluster, DATABASE, MANIFEST, NAME_INSIDE, ROWS } from './contents.ts';
import { copyAtOneMoment, dropCopy, type Stopping } from './copy.ts';
import { EngineRefusal, engineWork, ServiceStopped } from './engine-work.ts';

/** A backup that ended. */
export interface Backup {
  readonly id: string;
  readonly path: string;
  readonly state: 'made' | 'failed';
  /** The problem and its remedy; null if it was made. */
  readonly error: string | null;
  /** The state that it holds. */
  readonly madeAt: string;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  /** How long ingestion waited. */
  readonly pauseMs: number;
}

/** A backup that is being made. */
export interface BackupUnderway {
  readonly id: string;
  readonly path: string;
  readonly state: 'running';
}

/** The last backups of the store, by every process. */
export interface LastBackups {
  readonly made: Backup | null;
  readonly failed: Backup | null;
}

export interface Backups {
  /** Begins a backup to a folder of the store's machine. Throws `bad_request` while another one is being made. */
  begin(path: string): BackupUnderway;
  /** A backup that this process began. */
  get(id: string): Backup | BackupUnderway | null;
  last(): Promise<LastBackups>;
  /** Drops the copies that a killed process left behind. Only if no other process is on the store. */
  start(): Promise<void>;
  /** Ends a backup that is being made: it fails. */
  close(): Promise<void>;
}

export interface BackupsDeps {
  readonly db: Database;
  readonly ingestion: Stopping;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** An engine's file takes a block or two. */
const LEAST_ROOM_BYTES = 64 * 1024;

const COPIES: Query<{ name: string }> = {
  name: 'backup: copies left behind',
  sql: sql`SELECT name FROM system.databases WHERE startsWith(name, concat(currentDatabase(), '_backup_'))
  AND ({seconds:UInt32} = 0 OR name NOT IN
    (SELECT database FROM system.tables WHERE metadata_modification_time > now() - {seconds:UInt32}))`,
  row: z.object({ name: z.string() }),
};

const LAST: Query<z.infer<typeof Row>> = {
  name: 'backup: last ones',
  sql: sql`SELECT toString(backup_id) AS id, path, toUnixTimestamp64Milli(made_at) AS madeAt, error, tables, rows, bytes,
  seconds, pause_ms AS pauseMs FROM backups ORDER BY ended_at DESC LIMIT 1 BY error = ''`,
  row: z.lazy(() => Row),
};
const Row = z.object({
  id: z.string(),
  path: z.string(),
  madeAt: z.number(),
  error: z.string(),
  tables: z.number(),
  rows: z.number(),
  bytes: z.number(),
  seconds: z.number(),
  pauseMs: z.number(),
});

export function createBackups(deps: BackupsDeps): Backups {
  const { db, log } = deps;
  const own = new Map<string, Backup | BackupUnderway>();
  const ending = new AbortController();
  let running: Promise<void> | null = null;

  const run = async (id: string, path: string): Promise<void> => {
    const backup = await make(deps, id, path, ending.signal);
    const { error, ...fields } = backup;
    if (error === null) log.info(fields, 'made a backup');
    else log.warn({ ...fields, reason: error }, 'a backup failed');
    // Without this row the monitoring does not hear of it. The backup itself is whole.
    await record(db, backup).catch((err: unknown) => log.warn({ err }, 'a backup could not be recorded'));
    own.set(id, backup);
  };

  return {
    begin: (path) => {
      assertNoCluster(db);
      if (running !== null) throw new AppError('bad_request', 'A backup is being made already.');
      const backup: BackupUnderway = { id: randomUUID(), path, state: 'running' };
      own.set(backup.id, backup);
      running = run(backup.id, path).finally(() => {
        running = null;
      });
      return backup;
    },
    get: (id) => own.get(id) ?? null,
    last: async () => {
      const rows = (await db.query(LAST, {}, { lane: 'lookup' })).map(backupOf);
      const of = (state: Backup['state']) => rows.find((row) => row.state === state) ?? null;
      return { made: of('made'), failed: of('failed') };
    },
    start: async () => {
      if (sharingOf(db).isStillAtStart) await dropCopies(db);
    },
    close: async () => {
      ending.abort();
      await running;
    },
  };
}

/** Never rejects. */
async function make(
  { db, ingestion, clock }: BackupsDeps,
  id: string,
  path: string,
  signal: AbortSignal,
): Promise<Backup> {
  const began = performance.now();
  const madeAt = toIso(clock());
  const secondsNow = (): number => Math.round(performance.now() - began) / 1000;
  let copy: string | null = null;
  try {
    await dropCopies(db);
    const { name } = await db.queryOne(DATABASE, {}, { lane: 'lookup' });
    copy = `${name}_backup_${id.replaceAll('-', '')}`;
    const { tables, pauseMs } = await copyAtOneMoment(db, ingestion, copy, signal);
    const rows = await db.query(ROWS, { database: copy }, { lane: 'lookup' });
    const sum = rows
      .filter(({ table }) => table !== MANIFEST)
      .reduce((total, table) => total + table.rows, 0);
    const statement = sql`BACKUP DATABASE ${identifier(copy)} AS ${identifier(NAME_INSIDE)} TO File(${quoted(path)})`;
    const bytes = await engineWork(db, 'backup', statement, signal);
    return {
      id,
      path,
      state: 'made',
      error: null,
      madeAt,
      tables,
      rows: sum,
      bytes,
      seconds: secondsNow(),
      pauseMs: Math.round(pauseMs),
    };
  } catch (error) {
    const nothing = { tables: 0, rows: 0, bytes: 0, pauseMs: 0 };
    return {
      id,
      path,
      state: 'failed',
      error: await explained(error, path, db),
      madeAt,
      ...nothing,
      seconds: secondsNow(),
    };
  } finally {
    // The next backup drops a copy that stays.
    if (copy !== null) await dropCopy(db, copy).catch(() => undefined);
  }
}

/** Drops the copies that killed processes left behind. */
async function dropCopies(db: Database): Promise<void> {
  const seconds = sharingOf(db).patience(DAY_MS) / 1000;
  for (const { name } of await db.query(COPIES, { seconds }, { lane: 'lookup' })) {
    await dropCopy(db, name);
  }
}

async function explained(error: unknown, path: string, db: Database): Promise<string> {
  if (error instanceof AppError) {
    // Flushes do not end on a full disk, and no deletion does.
    const isUnsaid = db.isFull && !isNoRoom(error);
    return isUnsaid ? `The disk of the store is full. ${error.forOperator}` : error.forOperator;
  }
  const text = messageOf(error);
  if (!(error instanceof EngineRefusal) || error instanceof ServiceStopped) return text;
  // On a full disk the engine takes its own lock file, which stayed empty, for that of another backup.
  if (isNoRoom(error) || (db.engine === 'embedded' && (await isFull(path)))) {
    return `The disk is full: there is no room for the backup in ${path}. Make room, or name a folder on another disk.`;
  }
  if (/already exists|being written/.test(text))
    return `There is a backup in this folder already: name another folder.`;
  if (/not allowed for backups|allowed_path/.test(text)) {
    return `The ClickHouse server does not write backups there: set backups.allowed_path in its configuration (docs/backups.md).`;
  }
  return `The store could not make it: ${text}`;
}

/** True if the disk of a folder that may not be there yet has no room for a file. */
async function isFull(path: string): Promise<boolean> {
  try {
    const { bsize, bavail } = await statfs(path);
    return bavail * bsize < LEAST_ROOM_BYTES;
  } catch {
    return path === dirname(path) ? false : isFull(dirname(path));
  }
}

const record = (db: Database, backup: Backup): Promise<void> =>
  db.insert(
    'backups',
    [
      {
        backup_id: backup.id,
        path: backup.path,
        made_at: dateTime64(Date.parse(backup.madeAt)),
        error: backup.error ?? '',
        tables: backup.tables,
        rows: backup.rows,
        bytes: backup.bytes,
        seconds: backup.seconds,
        pause_ms: backup.pauseMs,
      },
    ],
    { token: backup.id },
  );

const backupOf = ({ madeAt, error, ...row }: z.infer<typeof Row>): Backup => ({
  ...row,
  madeAt: toIso(epochMs(madeAt)),
  state: error === '' ? 'made' : 'failed',
  error: error === '' ? null : error,
});
