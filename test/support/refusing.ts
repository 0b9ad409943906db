import type { Database } from '../../src/clickhouse/database.ts';
import { deferred } from './deferred.ts';
import { passing } from './statements.ts';

/** Statements that name neither an app nor a flush. They are about the app if a statement about it was refused before. */
const OF_ANY = /rehears|put aside|set_aside|views on events/;
/** A copy of a table is named by chance. */
const nameOf = (name: string): string => name.replace(/^rehearsal_\w+$/, 'rehearsal_');

/** A store that refuses one statement about an app's flushes for good, because of its content. */
export interface Refusing {
  readonly db: Database;
  /** The names of the statements about the app's flushes, in the order in which they were first sent. */
  readonly names: ReadonlySet<string>;
  /** How often each of them was sent. */
  readonly counts: ReadonlyMap<string, number>;
  /** The statement that is refused; null for none. */
  refused: string | null;
  /** Everything about these flushes that follows on a refusal waits until `goOn`. Resolves at the first refusal. */
  stopAtRefusal(): Promise<void>;
  goOn(): void;
}

/** Wraps a store. A statement is about the app if it names the app, or a flush in which the app's rows came. */
export function refusing(db: Database, app: string): Refusing {
  const counts = new Map<string, number>();
  const marks = new Set([app]);
  let [stopped, gone] = [deferred(), deferred()];
  let [isStopping, isStopped] = [false, false];
  const state = {
    db,
    counts,
    get names() {
      return new Set(counts.keys());
    },
    refused: null as string | null,
    stopAtRefusal: (): Promise<void> => {
      [stopped, gone] = [deferred(), deferred()];
      [isStopping, isStopped] = [true, false];
      return stopped.promise;
    },
    goOn: (): void => {
      [isStopping, isStopped] = [false, false];
      gone.resolve();
    },
  };
  let hasRefused = false;
  const isAbout = (name: string, text: string): boolean =>
    [...marks].some((mark) => text.includes(mark)) || (hasRefused && OF_ANY.test(name));
  const called = async (call: () => unknown): Promise<unknown> => {
    try {
      return await call();
    } catch (error) {
      hasRefused = true;
      throw error;
    }
  };
  state.db = passing(db, async (statement) => {
    const { args, send } = statement;
    const name = nameOf(statement.name);
    const text = JSON.stringify(args);
    if (!isAbout(name, text)) return send();
    for (const [, flush = ''] of text.matchAll(/\\"flush_id\\":\\"([0-9a-f-]{36})\\"/g)) marks.add(flush);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (isStopped) await gone.promise;
    if (name !== state.refused) return called(send);
    hasRefused = true;
    if (isStopping) isStopped = true;
    stopped.resolve();
    throw Object.assign(new Error('Constraint is violated'), { code: '469' });
  });
  return state;
}
