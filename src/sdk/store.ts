/**
 * JSON values by name. They are kept across pages and tabs if the browser allows it, otherwise for this page.
 */
export interface Store {
  get(key: string): unknown;
  /** `undefined` removes. */
  set(key: string, value?: unknown): void;
  /** The names that start with `start`. */
  keys(start: string): string[];
}

/** Removes every value. */
export const forget = (store: Store): void => {
  for (const key of store.keys('')) store.set(key);
};
