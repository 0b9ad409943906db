import { LRUCache } from 'lru-cache';
import type { Database } from '../clickhouse/database.ts';
import { forOthersToo } from '../domain/caller.ts';
import type { AppId } from '../domain/ids.ts';
import { type PublishedFacts, readSnapshot, type Scope, type Snapshot } from './watermarks.ts';

const KEPT = 20_000;

/** Reads an app's snapshot, or gives the one it read last where nothing was written since. */
export type ReadSnapshot = (app: AppId, scope?: Scope) => Promise<Snapshot>;

interface Kept {
  readonly stamp: number;
  readonly snapshot: Promise<Snapshot>;
}

/** On a store with other writers every call asks the store; identical calls at the same moment ask once. */
export function createSnapshots(db: Database): ReadSnapshot {
  const kept = new LRUCache<string, Kept>({ max: KEPT });
  const published = new LRUCache<AppId, PublishedFacts>({ max: KEPT });
  const read = async (app: AppId, scope?: Scope): Promise<Snapshot> => {
    const snapshot = await readSnapshot(db, app, scope, published.get(app));
    published.set(app, snapshot.published);
    return snapshot;
  };
  return (app, scope) => {
    const stamp = db.stamp(app);
    if (stamp === null) return read(app, scope);
    const key = keyOf(app, scope);
    const last = kept.get(key);
    if (last?.stamp === stamp) return last.snapshot;
    const snapshot = forOthersToo(() => read(app, scope));
    const entry = { stamp, snapshot };
    // Whoever asks for no scope is served by any.
    const keys = [key, keyOf(app)];
    for (const each of keys) kept.set(each, entry);
    // A failure is not kept; neither is what was read while something was written.
    const forget = (): void => {
      for (const each of keys) if (kept.peek(each) === entry) kept.delete(each);
    };
    snapshot.then(() => {
      if (db.stamp(app) !== stamp) forget();
    }, forget);
    return snapshot;
  };
}

const keyOf = (app: AppId, scope?: Scope): string => `${app} ${JSON.stringify(scope ?? null)}`;
