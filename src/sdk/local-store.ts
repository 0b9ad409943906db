import type { Store } from './store.ts';

/** Opens the values whose names are kept under `prefix` in localStorage. Reading and writing never throw. */
export function openStore(prefix: string): Store {
  // What localStorage does not take: it is full, or the browser forbids it (then every access throws).
  const memory: Record<string, string> = {};
  return {
    get(key) {
      try {
        return JSON.parse(memory[key] ?? localStorage.getItem(prefix + key) ?? '');
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      const json = JSON.stringify(value);
      delete memory[key];
      try {
        // Removed first: when the new value does not fit, nothing stale stays behind.
        localStorage.removeItem(prefix + key);
        if (json) localStorage.setItem(prefix + key, json);
      } catch {
        if (json) memory[key] = json;
      }
    },
    keys(start) {
      try {
        return Object.keys(localStorage)
          .filter((name) => name.startsWith(prefix + start))
          .map((name) => name.slice(prefix.length));
      } catch {
        return [];
      }
    },
  };
}
