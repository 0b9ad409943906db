/** JSON values by name, kept across pages and tabs where the browser allows it, else as long as the page lives. */
export interface Store {
  get(key: string): unknown;
  /** `undefined` removes. */
  set(key: string, value?: unknown): void;
  /** Names that start with `start`. */
  keys(start: string): string[];
}
