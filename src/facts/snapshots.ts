import { LRUCache } from 'lru-cache';
import type { Database } from '../clickhouse/database.ts';
import { forOthersToo } from '../domain/caller.ts';
import type { AppId } from '../domain/ids.ts';
import { byScope } from './by-scope.ts';
import type { PublishedFacts } from './published.ts';
import { readSnapshots, type Scope, type Snapshot } from './read-snapshots.ts';

const MOST_CACHED = 20_000;
/** Of each app. A poller of every endpoint asks for half as many. */
const MOST_POLLED = 12;

/** Returns an app's snapshot: the cached one if nothing was written since, otherwise a new one. */
export type ReadSnapshot = (app: AppId, scope?: Scope) => Promise<Snapshot>;

type ReadScopes = (app: AppId, scopes: readonly Scope[]) => Promise<readonly Snapshot[]>;

/**
 * If the store has other writers, each call asks the store. Calls about one app that come while it is being
 * asked share the next statement.
 */
export function createSnapshots(db: Database): ReadSnapshot {
  const published = new LRUCache<AppId, PublishedFacts>({ max: MOST_CACHED });
  const readScopes: ReadScopes = async (app, scopes) => {
    const snapshots = await readSnapshots(db, app, scopes, published.get(app));
    for (const snapshot of snapshots) published.set(app, snapshot.published);
    return snapshots;
  };
  const shared = byScope(readScopes);
  const own = new OwnSnapshots(db, readScopes);
  return (app, scope = NOTHING) => {
    const stamp = db.stamp(app);
    return stamp === null ? shared(app, scope) : own.read(app, scope, stamp);
  };
}

const NOTHING: Scope = { events: null, sessions: null };

interface Cached {
  readonly stamp: number;
  /** Read by one statement. */
  readonly snapshots: Promise<readonly Snapshot[]>;
  /** The index among them. */
  readonly place: number;
}

/** The snapshots of a process that is alone on its store. */
class OwnSnapshots {
  readonly #db: Database;
  readonly #readScopes: ReadScopes;
  /** By app and scope. */
  readonly #cached = new LRUCache<string, Cached>({ max: MOST_CACHED });
  /** The scopes that are asked for again and again, the latest first. */
  readonly #polled = new LRUCache<AppId, readonly Scope[]>({ max: MOST_CACHED });

  constructor(db: Database, readScopes: ReadScopes) {
    this.#db = db;
    this.#readScopes = readScopes;
  }

  /** Reads the scope, and with it all polled scopes of the app. `stamp` is that of now. */
  read(app: AppId, scope: Scope, stamp: number): Promise<Snapshot> {
    const key = keyOf(app, scope);
    const last = this.#cached.get(key);
    if (last?.stamp === stamp) return snapshotOf(last);
    const others = (this.#polled.get(app) ?? []).filter((each) => keyOf(app, each) !== key);
    if (last !== undefined) this.#polled.set(app, [scope, ...others].slice(0, MOST_POLLED));
    const isOld = (each: Scope): boolean => this.#cached.peek(keyOf(app, each))?.stamp !== stamp;
    const scopes = [scope, ...others.filter(isOld)];
    const snapshots = forOthersToo(() => this.#readScopes(app, scopes));
    scopes.forEach((each, place) => {
      this.#cached.set(keyOf(app, each), { stamp, snapshots, place });
    });
    // Failures are not cached, nor snapshots that were read while something was written.
    const forget = (): void => {
      for (const each of scopes.map((one) => keyOf(app, one))) {
        if (this.#cached.peek(each)?.snapshots === snapshots) this.#cached.delete(each);
      }
    };
    snapshots.then(() => {
      if (this.#db.stamp(app) !== stamp) forget();
    }, forget);
    return snapshotOf({ snapshots, place: 0 });
  }
}

const keyOf = (app: AppId, scope: Scope): string => `${app} ${JSON.stringify(scope)}`;

async function snapshotOf({ snapshots, place }: Pick<Cached, 'snapshots' | 'place'>): Promise<Snapshot> {
  const snapshot = (await snapshots)[place];
  if (snapshot === undefined) throw new Error('the store returned too few numbers');
  return snapshot;
}
