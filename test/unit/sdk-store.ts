import type { Store } from '../../src/sdk/store.ts';

/** The storage that the tabs of one site share. */
export function memoryStore(items = new Map<string, string>()): Store {
  return {
    get: (key) => JSON.parse(items.get(key) ?? 'null') ?? undefined,
    set(key, value) {
      if (value === undefined) items.delete(key);
      else items.set(key, JSON.stringify(value));
    },
    keys: (start) => [...items.keys()].filter((key) => key.startsWith(start)),
  };
}
