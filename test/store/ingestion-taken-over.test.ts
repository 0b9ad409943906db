import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/clickhouse/database.ts';
import { quoted, type Sql, sql } from '../../src/clickhouse/sql.ts';
import { bridgeProcess } from '../support/bridge-process.ts';
import { deferred } from '../support/deferred.ts';
import { passing } from '../support/statements.ts';
import { serverStore, type TestStore } from '../support/store.ts';
import {
  afterLease,
  ingestionOn,
  newApp,
  REQUEST,
  sentUntilTaken,
  session,
  stored,
  totalsOf,
} from './ingestion-support.ts';

/*
 * The store refuses a flush, and its process stops between any two statements for longer than its lease. Meanwhile the
 * reason goes away, and another process takes the flush over.
 */

let store: TestStore;
let stop: () => Promise<void>;

beforeAll(async () => {
  const bridge = await bridgeProcess();
  [store, stop] = [await serverStore(bridge), bridge.close];
});
afterAll(async () => {
  await store.close();
  await stop();
});

/** A store of which one statement waits for `goOn`: the first that `isIt` accepts. */
function stopping(db: Database, isIt: (name: string) => boolean) {
  const [reached, gone] = [deferred(), deferred()];
  let isArmed = true;
  const stopped = passing(db, async ({ name, send }) => {
    if (isArmed && isIt(name)) {
      isArmed = false;
      reached.resolve();
      await gone.promise;
    }
    return send();
  });
  return { db: stopped, reached: reached.promise, goOn: () => gone.resolve() };
}

const change = (name: string, how: Sql): Promise<void> =>
  store.db.command(name, sql`ALTER TABLE ${store.db.shards.stored('events')} ${how}`);

interface Kind {
  /** True if the app's flushes are tried on copies of the tables first. */
  readonly isSuspected: boolean;
  /** The statement before which the other process stops until the first one has come to its end; null for none. */
  readonly half: string | null;
}

/** Stops a process before its `at`-th statement after the insert of a flush. False if it has come to its end before. */
async function isStoredOnce(at: number, { isSuspected, half }: Kind): Promise<boolean> {
  const app = newApp();
  await change('refuse', sql`ADD CONSTRAINT refused CHECK app_id != ${quoted(app.id)}`);
  let [isSending, count] = [false, 0];
  const owner = stopping(store.db, (name) => {
    const isAfter = count > 0 || name === 'ingestion: verdict';
    return isSending && isAfter && count++ === at;
  });
  const other = stopping(store.db, (name) => name === half);
  const [first, second] = [ingestionOn(owner.db), ingestionOn(other.db)];
  if (isSuspected) {
    const refused = first.accept(app, { batchId: randomUUID(), sessions: [session('before')] }, REQUEST);
    await expect(refused).rejects.toMatchObject({ code: 'validation_failed' });
  }
  isSending = true;
  const batch = { batchId: randomUUID(), sessions: [session('a')] };
  const answer = first.accept(app, batch, REQUEST).catch((error: unknown) => error);
  const isStopped = await Promise.race([owner.reached.then(() => true), answer.then(() => false)]);
  await change('mend', sql`DROP CONSTRAINT IF EXISTS refused`);
  await second.sweep();
  let taking: Promise<void> = Promise.resolve();
  await afterLease(async () => {
    taking = second.sweep();
    await Promise.race([taking, other.reached]);
  });
  owner.goOn();
  await answer;
  other.goOn();
  await taking;
  await sentUntilTaken(first, app, batch, () => first.sweep());
  expect(await totalsOf(store.db, app.id), `stopped before statement ${at}`).toEqual(stored(1, 3));
  return isStopped;
}

test.each<[Kind]>([
  [{ isSuspected: false, half: null }],
  [{ isSuspected: false, half: 'ingestion: is written down' }],
  [{ isSuspected: false, half: 'ingest_batches' }],
  [{ isSuspected: true, half: 'ingest_batches' }],
])(
  'a flush that is refused, and taken over between any two statements, is stored once: %o',
  async (kind) => {
    let at = 0;
    while (await isStoredOnce(at, kind)) at++;
    expect(at).toBeGreaterThan(10);
  },
  600_000,
);
