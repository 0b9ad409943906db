import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import { AppError } from '../domain/errors.ts';
import { FACT_KINDS } from '../domain/fact-kinds.ts';
import { type AppId, appId } from '../domain/ids.ts';
import type { Locks } from '../domain/locks.ts';
import { type Clock, type EpochMs, epochMs, toIso } from '../domain/time.ts';
import { type Deleted, resealHours } from '../facts/reseal.ts';
import { withRuns } from '../facts/run-groups.ts';
import { RunEnded } from '../facts/runs.ts';
import type { Ingestion } from '../ingestion/ingestion.ts';
import { dropMarkedRows } from '../metadata/erasing.ts';
import { horizonOf } from '../snapshots/horizon.ts';
import {
  correctBounds,
  deleteEvents,
  deleteSetAside,
  hoursOf,
  type Listed,
  listSessions,
  nameOthers,
  uncount,
  unname,
} from './steps.ts';

/*
 * Erases one visitor of an app from every table. The steps of an erasure:
 *
 * 1. It begins with a row in `erasures`. From now on no answer about the app is cached or confirmed, and nothing of the
 *    app is sealed, in any process. Runs of the sealer that began before are ended.
 * 2. At a moment at which no event of the app is being stored, its limit is set: events that are inserted later are not erased, and
 *    belong to a new visitor. The sessions that name the visitor are listed.
 * 3. They are taken out of the counts, and then deleted with their events.
 * 4. The facts of their hours are computed again.
 * 5. The list is deleted, and the row is written that ends the erasure: answers are cached again, under other tags.
 *
 * Each step may be repeated. If a process dies, another one goes on, and one that comes late finds nothing to delete.
 */

export interface Erasures {
  /**
   * Erases everything that the visitor did in the app until now. Repeats an erasure of the app first that was
   * interrupted. Can be repeated.
   */
  erase(app: AppId, visitor: string): Promise<void>;
  /** Goes on with erasures that were interrupted, and drops caches of apps whose visitors others have erased. */
  resume(): Promise<void>;
}

export interface ErasuresDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly locks: Locks;
  readonly ingestion: Pick<Ingestion, 'moment' | 'forgetSettled'>;
  /** Drops everything that this process keeps of the app in memory. */
  readonly forget: (app: AppId) => void;
  /** Ends the work after the current statement. */
  readonly signal?: AbortSignal;
}

interface Open {
  readonly app: AppId;
  readonly id: string;
  readonly visitor: string;
  readonly ended: boolean;
}

const OPEN: Query<Open> = {
  name: 'erasures: open ones',
  sql: sql`SELECT toString(app_id) AS app, toString(erasure_id) AS id, max(visitor_id) AS visitor, max(ended) AS ended FROM erasures
WHERE empty({only:Array(UUID)}) OR app_id IN {only:Array(UUID)}
GROUP BY app_id, erasure_id HAVING visitor != '' ORDER BY min(written_at)`,
  row: z
    .object({ app: z.string().transform(appId), id: z.string(), visitor: z.string(), ended: z.number() })
    .transform(({ ended, ...row }) => ({ ...row, ended: ended === 1 })),
};

/** Apps of which a visitor is being erased, or was erased lately: longer than the pause of `resume`. */
const RECENT: Query<{ app: AppId }> = {
  name: 'erasures: recent ones',
  sql: sql`SELECT DISTINCT toString(app_id) AS app FROM erasures WHERE written_at > now64(3) - INTERVAL 3 MINUTE OR visitor_id != ''`,
  row: z.object({ app: z.string().transform(appId) }),
};

const MOMENT: Query<{ until: EpochMs }> = {
  name: 'erasure: moment',
  sql: sql`SELECT until FROM erased_sessions WHERE app_id = {app:UUID} AND erasure_id = {erasure:UUID} AND session_id = ''`,
  row: z.object({ until: z.int().transform(epochMs) }),
};

/** The store's time, and when the newest events of the app came in. */
const CLOCK: Query<{ now: EpochMs; last: EpochMs }> = {
  name: 'erasure: clock',
  sql: sql`SELECT toUnixTimestamp64Milli(now64(3)) AS now, toUnixTimestamp64Milli(max(l.last_insert)) AS last FROM ledger AS l WHERE app_id = {app:UUID}`,
  row: z.object({ now: z.int().transform(epochMs), last: z.int().transform(epochMs) }),
};
/** Clocks of a cluster differ by less. An erasure waits at most so long for one of them. */
const MOST_SKEW_MS = 5_000;

const SEAL = { lane: 'seal' } as const;
/** How often facts are sealed again if others end it. The pauses grow and differ, so that two do not meet again. */
const MOST_ATTEMPTS = 8;
const PAUSE_MS = 500;

export function createErasures({ db, clock, locks, ingestion, forget, signal }: ErasuresDeps): Erasures {
  const openOnes = (only: readonly AppId[]): Promise<Open[]> =>
    db.query(OPEN, { only }, { ...SEAL, everyShard: true });

  /**
   * Waits until the store's clock has reached the newest events of the app. Throws `overloaded` if that takes long: an
   * erasure would leave them out.
   */
  const awaitNewest = async (app: AppId): Promise<void> => {
    const { now, last } = await db.queryOne(CLOCK, { app }, SEAL);
    if (last - now > MOST_SKEW_MS) {
      throw new AppError(
        'overloaded',
        `The store's clock was set back: events of this app were stored at ${toIso(last)}. Try again after that.`,
        { retryAfterSeconds: 60 },
      );
    }
    if (last > now) await sleep(last - now);
  };

  /** Returns the erasure with its limit; null if its list is deleted already, because all is done. */
  const listed = async ({ app, id }: Open): Promise<Listed | null> => {
    const read = async () => (await db.query(MOMENT, { app, erasure: id }, SEAL))[0];
    if ((await read()) === undefined) {
      const row = {
        app_id: app,
        erasure_id: id,
        until: await ingestion.moment(app),
        session_id: '',
        started_at: 0,
      };
      await db.insert('erased_sessions', [row], { ...SEAL, token: id });
    }
    const found = await read();
    if (found === undefined) return null;
    // After this wait no node inserts events that seem to be from before the limit, so the list is whole.
    if (!db.shards.hasOneClock) await sleep(MOST_SKEW_MS);
    return { app, id, until: found.until };
  };

  const destroy = async (erasure: Open, isFresh: boolean): Promise<void> => {
    const { app, id, visitor } = erasure;
    // Ends the runs that do not know of the erasure.
    for (const kind of FACT_KINDS) await withRuns(db, kind, [app], 1, async () => undefined);
    const list = await listed(erasure);
    if (list === null) return;
    // The horizon does not move during an erasure.
    const horizon = await horizonOf(db, app, SEAL);
    await listSessions(db, list, horizon);
    // The next session of another visitor follows on a session that is deleted, in an hour that is not listed.
    const isKnown = isFresh && !(await nameOthers(db, list));
    await ingestion.forgetSettled();
    await deleteSetAside(db, list, visitor);
    await unname(db, list, horizon);
    const hours = await hoursOf(db, list);
    if (hours.session.hours.size > 0) {
      for (const step of [uncount, correctBounds, deleteEvents]) {
        signal?.throwIfAborted();
        await step(db, list);
      }
      for (const kind of FACT_KINDS) await reseal(isKnown ? hours[kind] : unknown(hours[kind]));
    }
    await dropMarkedRows(db);
    const of = sql`app_id = {app:UUID} AND erasure_id = {erasure:UUID}`;
    await deleteRows('erased_sessions', of, { app, erasure: id });
  };

  /** Seals again. Tries again if another process ends its runs: one that rebuilds facts, or repeats the erasure. */
  const reseal = async (deleted: Deleted): Promise<void> => {
    const deps = { db, ...(signal === undefined ? {} : { signal }) };
    let next = deleted;
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      try {
        return await resealHours(deps, clock(), next);
      } catch (error) {
        if (!(error instanceof RunEnded)) throw error;
        next = unknown(next);
        await sleep(randomInt(PAUSE_MS) * attempt);
      }
    }
    throw new AppError(
      'overloaded',
      'This app is being sealed all the time. The erasure goes on within a minute.',
      {
        retryAfterSeconds: 60,
      },
    );
  };

  const deleteRows = (table: string, where: Sql, params: Readonly<Record<string, string>>): Promise<void> =>
    db.command(
      `erasure: ${table}`,
      sql`ALTER TABLE ${db.shards.stored(table)} DELETE WHERE ${where} SETTINGS mutations_sync = 2`,
      params,
      SEAL,
    );

  const run = async (erasure: Open, isFresh: boolean): Promise<void> => {
    const { app, id } = erasure;
    if (!erasure.ended) {
      await destroy(erasure, isFresh);
      await db.insert('erasures', [{ app_id: app, erasure_id: id, ended: 1 }], { ...SEAL, about: [app] });
    }
    const named = sql`app_id = {app:UUID} AND erasure_id = {erasure:UUID} AND visitor_id != ''`;
    await deleteRows('erasures', named, { app, erasure: id });
    forget(app);
  };

  const underLock = <T>(app: AppId, work: () => Promise<T>): Promise<T> =>
    locks.withLock(`erase:${app}`, work);
  const finish = async (app: AppId): Promise<void> => {
    for (const erasure of await openOnes([app])) await run(erasure, false);
  };

  return {
    erase: (app, visitor) =>
      underLock(app, async () => {
        await finish(app);
        await awaitNewest(app);
        const erasure = { app, id: randomUUID(), visitor, ended: false };
        const row = { app_id: app, erasure_id: erasure.id, ended: 0, visitor_id: visitor };
        await db.insert('erasures', [row], { ...SEAL, about: [app] });
        await run(erasure, true);
      }),
    async resume() {
      const recent = await db.query(RECENT, {}, { ...SEAL, everyShard: true });
      for (const { app } of recent) forget(app);
      if (recent.length === 0) return;
      const failures: unknown[] = [];
      for (const app of new Set((await openOnes([])).map((open) => open.app))) {
        signal?.throwIfAborted();
        // The erasures of other apps go on.
        await underLock(app, () => finish(app)).catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** After an interruption it is not known which of these hours were computed again. */
const unknown = ({ hours, ...deleted }: Deleted): Deleted => ({
  ...deleted,
  hours: new Map([...hours.keys()].map((hour) => [hour, null])),
});
