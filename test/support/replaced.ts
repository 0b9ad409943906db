import type { Database } from '../../src/clickhouse/database.ts';

/** Returns the store with other methods in the place of some of its own. */
export const replaced = (db: Database, methods: Partial<Database>): Database =>
  new Proxy(db, {
    get: (target, name) => {
      const other: unknown = Reflect.get(methods, name);
      if (other !== undefined) return other;
      const own: unknown = Reflect.get(target, name, target);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
