import type { Database } from '../../src/clickhouse/database.ts';

const STATEMENTS = ['query', 'queryOne', 'insert', 'insertText', 'insertFrom', 'command'];

/** A statement on its way to the store. */
export interface Statement {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly send: () => unknown;
}

/** Returns the store, whose statements `pass` sends, or does not. */
export const passing = (db: Database, pass: (statement: Statement) => Promise<unknown>): Database =>
  new Proxy(db, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (!STATEMENTS.includes(String(key))) return call;
      return async (...args: readonly [string | { name: string }, ...unknown[]]) => {
        const [first] = args;
        const name = typeof first === 'string' ? first : first.name;
        return pass({ name, args, send: () => call(...args) });
      };
    },
  });
