import { LRUCache } from 'lru-cache';
import type { Database } from '../clickhouse/database.ts';
import { forOthersToo } from '../domain/caller.ts';
import type { AppId } from '../domain/ids.ts';
import { byScope } from './by-scope.ts';
import { type PublishedFacts, readSnapshots, type Scope, type Snapshot } from './watermarks.ts';

const MOST_CACHED = 20_000;

/** Returns an app's snapshot: the cached one if nothing was written since, otherwise a new one. */
export type ReadSnapshot = (app: AppId, scope?: Scope) => Promise<Snapshot>;

interface Cached {
  readonly stamp: number;
  readonly snapshot: Promise<Snapshot>;
}

const NOTHING: Scope = { events: null, sessions: null };

/**
 * If the store has other writers, each call asks the store. Calls about one app that come while it is being
 * asked share the next statement.
 */
export function createSnapshots(db: Database): ReadSnapshot {
  const cached = new LRUCache<string, Cached>({ max: MOST_CACHED });
  const published = new LRUCache<AppId, PublishedFacts>({ max: MOST_CACHED });
  const read = byScope(async (app, scopes) => {
    const snapshots = await readSnapshots(db, app, scopes, published.get(app));
    for (const snapshot of snapshots) published.set(app, snapshot.published);
    return snapshots;
  });
  return (app, scope = NOTHING) => {
    const stamp = db.stamp(app);
    if (stamp === null) return read(app, scope);
    const key = keyOf(app, scope);
    const last = cached.get(key);
    if (last?.stamp === stamp) return last.snapshot;
    const snapshot = forOthersToo(() => read(app, scope));
    const entry = { stamp, snapshot };
    // A call without a scope accepts a snapshot of any scope.
    const keys = [key, keyOf(app)];
    for (const each of keys) cached.set(each, entry);
    // Failures are not cached, nor snapshots that were read while something was written.
    const forget = (): void => {
      for (const each of keys) if (cached.peek(each) === entry) cached.delete(each);
    };
    snapshot.then(() => {
      if (db.stamp(app) !== stamp) forget();
    }, forget);
    return snapshot;
  };
}

const keyOf = (app: AppId, scope?: Scope): string => `${app} ${JSON.stringify(scope ?? null)}`;
