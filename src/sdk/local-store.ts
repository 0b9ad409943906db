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
        return JSON.parse(items[prefix + key] as string);
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      // Removed first, so that no old value stays if the new one does not fit.
      const name = prefix + key;
      delete items[name];
      const json = JSON.stringify(value) as string | undefined;
      if (!json) return;
      try {
        items[name] = json;
      } catch {
        // It is full.
        items = { ...items, [name]: json };
      }
    },
    keys: (start) =>
      Object.keys(items)
        .filter((name) => name.startsWith(prefix + start))
        .map((name) => name.slice(prefix.length)),
  };
}
