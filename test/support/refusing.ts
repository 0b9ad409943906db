import type { Database } from '../../src/clickhouse/database.ts';

/** Statements that name neither an app nor a flush. They are refused whatever they are about. */
const OF_ANY = /rehears|put aside|set_aside|views on events/;
/** A copy of a table is named by chance. */
const nameOf = (name: string): string => name.replace(/^rehearsal_\w+$/, 'rehearsal_');

const STATEMENTS = ['query', 'queryOne', 'insert', 'insertText', 'insertFrom', 'command'];

/** A store that refuses one statement about an app's flushes for good, because of its content. */
export interface Refusing {
  readonly db: Database;
  /** The names of the statements about the app's flushes, in the order in which they were first sent. */
  readonly names: ReadonlySet<string>;
  /** The statement that is refused; null for none. */
  refused: string | null;
}

/** Wraps a store. A statement is about the app if it names the app, or a flush in which the app's rows came. */
export function refusing(db: Database, app: string): Refusing {
  const names = new Set<string>();
  const marks = new Set([app]);
  const state: Refusing = { db, names, refused: null };
  const wrapped = new Proxy(db, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (!STATEMENTS.includes(String(key))) return call;
      return async (...args: readonly [string | { name: string }, ...unknown[]]) => {
        const [first] = args;
        const name = nameOf(typeof first === 'string' ? first : first.name);
        const text = JSON.stringify(args);
        if (!OF_ANY.test(name) && ![...marks].some((mark) => text.includes(mark))) return call(...args);
        for (const [, flush = ''] of text.matchAll(/\\"flush_id\\":\\"([0-9a-f-]{36})\\"/g)) marks.add(flush);
        names.add(name);
        if (name === state.refused) throw Object.assign(new Error('Constraint is violated'), { code: '469' });
        return call(...args);
      };
    },
  });
  return Object.assign(state, { db: wrapped });
}
