import type { Store } from './store.ts';

type Items = Record<string, string>;

/** Opens the values in localStorage whose names begin with `prefix`. */
export function openStore(prefix: string): Store {
  let items: Items = {};
  try {
    items = (localStorage as Storage | null as Items | null) ?? items;
  } catch {
    // The browser forbids it: the values last as long as the page.
  }
  return {
    get(key) {
      try {
        return JSON.parse(items[prefix + key] ?? '');
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      // Removed first, so that no old value stays if the new one does not fit.
      delete items[prefix + key];
      if (value === undefined) return;
      const json = JSON.stringify(value);
      try {
        items[prefix + key] = json;
      } catch {
        // It is full.
        items = { ...items, [prefix + key]: json };
      }
    },
    keys: (start) =>
      Object.keys(items)
        .filter((name) => name.startsWith(prefix + start))
        .map((name) => name.slice(prefix.length)),
  };
}
