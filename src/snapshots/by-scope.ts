import { LRUCache } from 'lru-cache';
import { batched } from '../domain/batched.ts';
import { forOthersToo } from '../domain/caller.ts';
import type { AppId } from '../domain/ids.ts';
import type { Scope } from '../domain/scope.ts';

/** The others have no call that waits. */
const MOST_APPS = 20_000;

/**
 * Combines calls about one app: those that come while its statements run share the next one, so each gets a
 * state of the store from after its call. `read` returns one value for each scope.
 */
export function byScope<Value>(
  read: (app: AppId, scopes: readonly Scope[]) => Promise<readonly Value[]>,
): (app: AppId, scope: Scope) => Promise<Value> {
  // A value may be null. `batched` gives null for a key without a value.
  const apps = new LRUCache<AppId, (key: string) => Promise<{ readonly value: Value } | null>>({
    max: MOST_APPS,
  });
  const readerOf = (app: AppId) => {
    const reader = batched((keys) =>
      forOthersToo(async () => {
        const values = await read(
          app,
          keys.map((key) => JSON.parse(key) as Scope),
        );
        return new Map(keys.flatMap((key, i) => (i in values ? [[key, { value: values[i] as Value }]] : [])));
      }),
    );
    apps.set(app, reader);
    return reader;
  };
  return async (app, scope) => {
    const found = await (apps.get(app) ?? readerOf(app))(JSON.stringify(scope));
    if (found === null) throw new Error('the store returned too few numbers');
    return found.value;
  };
}
