import { createRequire } from 'node:module';
import { ownProcess } from '../own-process.ts';

/** The part of chdb's native module that opens and closes connections. */
interface Addon {
  CreateConnection(...args: unknown[]): unknown;
  CloseConnection(connection: unknown): void;
  QueryWithConnection(connection: unknown, statement: string, format: string): string;
}

/** Marks the native module, which is one for all realms and copies of this file in a process. */
const WATCHED = Symbol.for('session-analytics.connections');
/** A statement that is killed ends much earlier. */
const LONGEST_MS = 5_000;
const PAUSE_MS = 5;
const OTHERS = 'query_id != queryID()';

/**
 * Closes the engine when the process exits, as by process.exit() or an uncaught error. chdb closes its connections itself
 * then, but leaves them open if a statement was running (seen with 3.4.0: close() in its index.js waits for the event loop,
 * which has ended), and the exit then crashes (139) or hangs. So the statements are ended first. Call this before the first
 * connection is opened.
 */
export function closeAtExit(): void {
  const ofEngine = createRequire(createRequire(import.meta.url).resolve('chdb'));
  const addon = (ofEngine('./dist/loader.js') as { loadNative(): Addon }).loadNative();
  if (WATCHED in addon) return;
  const open = watch(addon);
  ownProcess.prependListener('exit', () => {
    endStatements(addon, open);
    for (const connection of [...open]) addon.CloseConnection(connection);
  });
}

/** Returns the connections that are open, kept up to date. */
function watch(addon: Addon): ReadonlySet<unknown> {
  const open = new Set<unknown>();
  const { CreateConnection, CloseConnection } = addon;
  addon.CreateConnection = (...args) => {
    const connection = CreateConnection(...args);
    open.add(connection);
    return connection;
  };
  addon.CloseConnection = (connection) => {
    open.delete(connection);
    CloseConnection(connection);
  };
  Object.defineProperty(addon, WATCHED, { value: open });
  return open;
}

/** Kills the running statements and waits for their end, without the event loop. */
function endStatements(addon: Addon, open: ReadonlySet<unknown>): void {
  const [connection] = open;
  if (connection === undefined) return;
  const ask = (statement: string): string => addon.QueryWithConnection(connection, statement, 'CSV').trim();
  const nap = new Int32Array(new SharedArrayBuffer(4));
  try {
    ask(`KILL QUERY WHERE ${OTHERS} ASYNC`);
    for (let waited = 0; waited < LONGEST_MS; waited += PAUSE_MS) {
      if (ask(`SELECT count() FROM system.processes WHERE ${OTHERS}`) === '0') return;
      Atomics.wait(nap, 0, 0, PAUSE_MS);
    }
  } catch {
    // The connections are closed all the same.
  }
}
