import type { Database } from '../../src/clickhouse/database.ts';
import type { AppId } from '../../src/domain/ids.ts';
import { epochMs, type OpenRange, type Range } from '../../src/domain/time.ts';

/** The parts of the store that every raw question needs. */
export type RawDatabase = Pick<Database, 'query' | 'queryOne'>;

/** Higher limits than the service's, and all cores: some raw questions need it on 30 million events. */
const LIMITS = { maxSeconds: 300, maxMemoryBytes: 12 * 1024 ** 3, parallel: true };

export const rawDatabase = (db: Database): RawDatabase => ({
  query: (query, params, options) => db.query(query, params, { ...LIMITS, ...options }),
  queryOne: (query, params, options) => db.queryOne(query, params, { ...LIMITS, ...options }),
});

const BEGINNING = epochMs(0);
/** The last ms of 2299, the end of the engine's DateTime64(3). */
const END = epochMs(Date.UTC(2300, 0, 1) - 1);

/**
 * Fills in omitted bounds, so that the range holds all the app's data: no event lies before 1970 or after
 * 2299.
 */
export const closed = (range: OpenRange): Range => ({ from: range.from ?? BEGINNING, to: range.to ?? END });

export const appRange = (app: AppId, range: Range) => ({ app, from: range.from, to: range.to });
