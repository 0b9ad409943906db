import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import type { AccountId, AppId } from '../domain/ids.ts';
import type { AssertHeld, Locks } from '../domain/locks.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import { LEDGER_COLUMNS, ledgerRows } from '../ingestion/ledger-rows.ts';
import { eraseApps } from '../metadata/erasing.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { MovedApp } from '../metadata/moved-apps.ts';
import { sharingOf } from '../sharing/choose.ts';
import { BrokenArchive, type Piece, piecesOf } from './archive.ts';
import {
  APP,
  AppPiece,
  BATCHES,
  BatchRow,
  COLUMNS,
  COUNTS,
  CountsPiece,
  EVENTS,
  EventRow,
  parsed,
  unpacked,
} from './format.ts';

const SEAL = { lane: 'seal' } as const;

const EVENTS_OF_APP = sql`SELECT app_id, started_at, timestamp FROM events WHERE app_id = {app:UUID}`;
const STORED_EVENTS: Query<{ events: number }> = {
  name: 'import: events of app',
  sql: sql`SELECT count() AS events FROM events WHERE app_id = {app:UUID}`,
  row: z.object({ events: z.int() }),
};

export interface ImportDeps {
  readonly db: Database;
  readonly metadata: Pick<Metadata, 'moving'>;
  readonly ingestion: Pick<Ingestion, 'adopt'>;
  readonly locks: Locks;
  readonly onErased: (app: AppId) => void;
}

export interface ImportWish {
  /** The account that gets the app: by default the one that it had, which must be in this store. */
  readonly account: AccountId | null;
  /** Gives the app a new id and a new secret. */
  readonly asNew: boolean;
  /** Who imports it, for the audit. */
  readonly actor: string;
}

export interface ImportedApp {
  readonly appId: AppId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly domain: string;
  readonly events: number;
  /** The new secret of an app with a new id. */
  readonly secretKey?: string;
}

/**
 * Imports an app from the archive that `open` reads from its beginning. It is read twice: first to see that it is
 * whole. The app exists only when all of it is stored. An import that was interrupted is repeated from the start: its
 * stored rows are erased first. Throws BrokenArchive, and AppError like `assertFree`.
 */
export async function importApp(
  { db, metadata: { moving }, ingestion, locks, onErased }: ImportDeps,
  open: () => Readable,
  wish: ImportWish,
): Promise<ImportedApp> {
  const { app: found, counts } = await checked(open());
  const app = wished(db, found, wish);
  if (db.shards.of(app.id) >= db.shards.count) throw nowhere();
  const { id, account, name, domain } = app;
  const erase = async (assertHeld: AssertHeld): Promise<void> => {
    await eraseApps(db, sql`app_id = {app:UUID}`, { app: id }, assertHeld);
    onErased(id);
  };
  // Without the lock, another import may be storing the same app.
  const store = async (assertHeld: AssertHeld): Promise<ImportedApp> => {
    await erase(assertHeld);
    try {
      await storeAll(db, ingestion, id, open(), assertHeld);
      const { events } = await db.queryOne(STORED_EVENTS, { app: id }, SEAL);
      if (events !== counts.events)
        throw new Error(`${events} events are stored instead of ${counts.events}`);
      await assertHeld();
      await commit(db, id);
      await assertHeld();
      const secretKey = await moving.adopt(app);
      return {
        appId: id,
        accountId: account,
        name,
        domain,
        events,
        ...(secretKey === null ? {} : { secretKey }),
      };
    } catch (error) {
      // The app may have been adopted although the answer was an error.
      const isMissing = (failure: unknown) => failure instanceof AppError && failure.code === 'not_found';
      const mayErase = await moving.moved(id).then(() => false, isMissing);
      // If this fails too, the next import of the app erases the rest, which nobody can read.
      if (mayErase) await erase(assertHeld).catch(() => undefined);
      throw error;
    }
  };
  const deed = {
    account,
    actor: wish.actor,
    action: 'app.import',
    subject: id,
    details: { domain },
  } as const;
  return locks.withLock(`import:${id}`, async (assertHeld) => {
    await moving.assertFree(app);
    return moving.recorded(deed, () => store(assertHeld));
  });
}

/** Reads a whole archive. Throws BrokenArchive unless all of it is there and can be read. */
async function checked(file: Readable): Promise<{ app: AppPiece; counts: CountsPiece }> {
  let app: AppPiece | null = null;
  let counts: CountsPiece | null = null;
  const read = { events: 0, batches: 0 };
  for await (const { name, bytes } of piecesOf(file)) {
    if (name === APP) app = parsed(AppPiece, name, bytes);
    else if (name === COUNTS) counts = parsed(CountsPiece, name, bytes);
    else if (name.startsWith(EVENTS)) read.events += await countOf(EventRow, name, bytes);
    else if (name.startsWith(BATCHES)) read.batches += await countOf(BatchRow, name, bytes);
    else throw new BrokenArchive(`it has an unexpected part ${name}`);
  }
  if (app === null || counts === null) throw new BrokenArchive('it is no exported app');
  if (counts.events !== read.events || counts.batches !== read.batches) {
    throw new BrokenArchive('it holds other numbers of events or batches than it says');
  }
  return { app, counts };
}

async function* rowsOf<Row>(schema: z.ZodType<Row>, name: string, bytes: Buffer): AsyncGenerator<Row[]> {
  let before = 0;
  for await (const rows of unpacked(name, bytes)) {
    yield rows.map((row, i) => {
      const { success, data } = schema.safeParse(row);
      if (!success) throw new BrokenArchive(`line ${before + i + 1} of ${name} is wrong`);
      return data;
    });
    before += rows.length;
  }
}

async function countOf(schema: z.ZodType<unknown>, name: string, bytes: Buffer): Promise<number> {
  let count = 0;
  for await (const rows of rowsOf(schema, name, bytes)) count += rows.length;
  return count;
}

/**
 * The app as it is to be. A new id is derived from the old one, the moment of the export and the account, so that a
 * repeated import finds the rows of an interrupted one.
 */
function wished(
  { shards }: Database,
  { id, account, secrets, until, retention, excluded, ...piece }: AppPiece,
  wish: ImportWish,
): MovedApp {
  const owner = wish.account ?? account;
  const app = {
    ...piece,
    ...(retention === undefined ? {} : { retention }),
    ...(excluded === undefined ? {} : { excluded }),
  };
  if (!wish.asNew) return { ...app, id, account: owner, secrets };
  const digest = createHash('sha256').update(`${id} ${until} ${owner}`).digest('hex');
  return { ...app, id: shards.newApp(digest), account: owner, secrets: [] };
}

function nowhere(): AppError {
  const what = 'The id of this app names a shard that this cluster does not have.';
  return new AppError('validation_failed', what, {
    errors: [{ field: 'file', message: `${what} Import it under a new id, with --as-new (asNew=true).` }],
  });
}

async function storeAll(
  db: Database,
  ingestion: ImportDeps['ingestion'],
  app: AppId,
  file: Readable,
  assertHeld: AssertHeld,
): Promise<void> {
  for await (const piece of piecesOf(file)) {
    await assertHeld();
    if (piece.name.startsWith(EVENTS))
      await db.insertText('events', await eventLines(app, piece), { about: [app] });
    if (piece.name.startsWith(BATCHES)) {
      for await (const rows of rowsOf(BatchRow, piece.name, piece.bytes))
        await ingestion.adopt(rows.map((row) => ({ app, ...row })));
    }
  }
}

/** Returns the events for another insert. Columns that this version does not know are left out. */
async function eventLines(app: AppId, { name, bytes }: Piece): Promise<string> {
  const groups: string[] = [];
  for await (const rows of unpacked(name, bytes)) {
    const lines = rows.map((row) => {
      const event: Record<string, unknown> = { app_id: app };
      for (const column of COLUMNS) if (row[column] !== undefined) event[column] = row[column];
      return JSON.stringify(event);
    });
    groups.push(lines.join('\n'));
  }
  return groups.join('\n');
}

/** Commits all events of the app: from now on the sealer sees them. */
async function commit(db: Database, app: AppId): Promise<void> {
  const options = { ...SEAL, about: [app] };
  await sharingOf(db).countBegun(EVENTS_OF_APP, { app, sign: 1 }, options);
  await db.insertFrom('ledger', LEDGER_COLUMNS, ledgerRows(EVENTS_OF_APP), { app }, options);
}
