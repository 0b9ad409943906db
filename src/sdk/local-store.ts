import type { Store } from './store.ts';

/** Opens the values in localStorage whose names begin with `prefix`. Reading and writing never throw. */
export function openStore(prefix: string): Store {
  // Values that localStorage does not take, because it is full or the browser forbids it (every access then
  // throws).
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
        // Removed first, so that no old value stays if the new one does not fit.
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
