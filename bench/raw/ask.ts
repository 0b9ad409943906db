import type { Database } from '../../src/clickhouse/database.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { type Clock, epochMs, type OpenRange, type Range } from '../../src/domain/time.ts';

/** What raw questions need of the store. */
export type RawDatabase = Pick<Database, 'query' | 'queryOne'>;

/** More than a question of the service may take, on 30 million events some raw ones need it; and all cores. */
const LIMITS = { maxSeconds: 300, maxMemoryBytes: 12 * 1024 ** 3, parallel: true };

export const rawDatabase = (db: Database): RawDatabase => ({
  query: (query, params, options) => db.query(query, params, { ...LIMITS, ...options }),
  queryOne: (query, params, options) => db.queryOne(query, params, { ...LIMITS, ...options }),
});

/** What every question is asked with. */
export interface Asker {
  readonly db: RawDatabase;
  readonly clock: Clock;
}

const BEGINNING = epochMs(0);
/** The last ms of 2299: what the engine's DateTime64(3) reaches. */
const END = epochMs(Date.UTC(2300, 0, 1) - 1);

/** An omitted bound holds all the app's data on that side: no event lies before 1970 or after 2299. */
export const closed = (range: OpenRange): Range => ({ from: range.from ?? BEGINNING, to: range.to ?? END });

export const appRange = (app: AppId, range: Range) => ({ app, from: range.from, to: range.to });
