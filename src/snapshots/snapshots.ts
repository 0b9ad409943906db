import { LRUCache } from 'lru-cache';
import type { Database } from '../clickhouse/database.ts';
import { forOthersToo } from '../domain/caller.ts';
import type { AppId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';
import { type Elapsed, MINUTE_MS } from '../domain/time.ts';
import { byScope } from './by-scope.ts';
import { type LastRead, readSnapshots, type Snapshot } from './read.ts';

const MOST_APPS = 20_000;
/** Of each app. */
const MOST_SCOPES = 64;
/** Of all apps together, each with its hours and its bands: at most 40 MB. */
const MOST_REMEMBERED = 200_000;
/**
 * The longest that an app's snapshots are used while nothing is written. Hours that were sealed after them are answered
 * from raw rows.
 */
const LONGEST_MS = 10 * MINUTE_MS;
/** Returns a random time, so that snapshots which were read together are not read together again. */
const lifeMs = (): number => LONGEST_MS * (0.5 + Math.random() / 2);
/** Of each app. A poller of every endpoint asks for half as many. */
const MOST_POLLED = 12;

/** Returns an app's snapshot: the cached one while it may be used, otherwise a new one. */
export type ReadSnapshot = (app: AppId, scope?: Scope) => Promise<Snapshot>;

type ReadScopes = (app: AppId, scopes: readonly Scope[]) => Promise<readonly Snapshot[]>;

/**
 * If the store has other writers, each call asks the store. Calls about one app that come while it is being
 * asked share the next statement.
 */
export function createSnapshots(db: Database, now: Elapsed = () => performance.now()): ReadSnapshot {
  const last = new LRUCache<AppId, LastRead>({
    maxSize: MOST_REMEMBERED,
    sizeCalculation: sizeOf,
  });
  const readScopes: ReadScopes = async (app, scopes) => {
    const { snapshots, read } = await readSnapshots(db, app, scopes, last.get(app));
    last.set(app, read);
    return snapshots;
  };
  const shared = byScope(readScopes);
  const own = new OwnSnapshots(db, readScopes, now);
  return (app, scope = NO_SCOPE) => {
    const stamp = db.own.stamp(app);
    return stamp === null ? shared(app, scope) : own.read(app, scope, stamp);
  };
}

const sizeOf = ({ late }: LastRead): number => late.page.length + late.session.length + 1;

const NO_SCOPE: Scope = { events: null, sessions: null };

/** The snapshots of an app that may still be used, and the scopes that are asked for. */
interface Own {
  readonly stamp: number;
  readonly until: number;
  /** By scope. A promise holds on to the request that made it, so it gives way to its value. */
  readonly read: Map<string, Snapshot | Promise<Snapshot>>;
  /** The scopes that were asked for, the latest last. */
  readonly asked: Map<string, Scope>;
  /** Those among them that were asked for again, the latest first. */
  polled: readonly (readonly [key: string, scope: Scope])[];
}

/** The snapshots of a process that is alone on its store. */
class OwnSnapshots {
  readonly #db: Database;
  readonly #readScopes: ReadScopes;
  readonly #now: Elapsed;
  readonly #apps = new LRUCache<AppId, Own>({ max: MOST_APPS });

  constructor(db: Database, readScopes: ReadScopes, now: Elapsed) {
    this.#db = db;
    this.#readScopes = readScopes;
    this.#now = now;
  }

  /** Reads the scope, and with it all polled scopes of the app. `stamp` is that of now. */
  async read(app: AppId, scope: Scope, stamp: number): Promise<Snapshot> {
    const own = this.#ownOf(app, stamp);
    const key = JSON.stringify(scope);
    const known = own.read.get(key);
    if (known !== undefined) return known;
    const others = own.polled.filter(([each]) => each !== key);
    if (own.asked.has(key)) own.polled = [[key, scope] as const, ...others].slice(0, MOST_POLLED);
    putLast(own.asked, key, scope);
    const entries = [[key, scope] as const, ...others.filter(([each]) => !own.read.has(each))];
    const reading = forOthersToo(() =>
      this.#readScopes(
        app,
        entries.map(([, each]) => each),
      ),
    );
    entries.forEach(([each], place) => {
      const one = reading.then((snapshots) => snapshotAt(snapshots, place));
      putLast(own.read, each, one);
      // Failures are not cached, nor snapshots that were read while something was written.
      const settle = (snapshot: Snapshot | null): void => {
        if (own.read.get(each) !== one) return;
        if (snapshot !== null && this.#db.own.stamp(app) === stamp) own.read.set(each, snapshot);
        else own.read.delete(each);
      };
      one.then(settle, () => settle(null));
    });
    return snapshotAt(await reading, 0);
  }

  /** After a write, or at the end of their life, nothing is left of the snapshots. */
  #ownOf(app: AppId, stamp: number): Own {
    const last = this.#apps.get(app);
    const now = this.#now();
    if (last?.stamp === stamp && now < last.until) return last;
    const { asked, polled } = last ?? { asked: new Map(), polled: [] };
    const own: Own = { stamp, until: now + lifeMs(), read: new Map(), asked, polled };
    this.#apps.set(app, own);
    return own;
  }
}

/** Puts a value behind all others, and drops the first one if there are too many. */
function putLast<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.delete(key);
  values.set(key, value);
  const [first] = values.keys();
  if (values.size > MOST_SCOPES && first !== undefined) values.delete(first);
}

function snapshotAt(snapshots: readonly Snapshot[], place: number): Snapshot {
  const snapshot = snapshots[place];
  if (snapshot === undefined) throw new Error('the store returned too few numbers');
  return snapshot;
}
