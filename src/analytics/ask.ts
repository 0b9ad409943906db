import type { Database } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { type Clock, epochMs, type OpenRange, type Range } from '../domain/time.ts';
import type { Watermarks } from '../facts/watermarks.ts';

/** What every question is asked with. */
export interface Asker {
  readonly db: Database;
  readonly clock: Clock;
  /** How far the app's facts can be used now. */
  watermarks(app: AppId): Promise<Watermarks>;
}

const BEGINNING = epochMs(0);
/** The last ms of 2299: what the engine's DateTime64(3) reaches. */
const END = epochMs(Date.UTC(2300, 0, 1) - 1);

/** An omitted bound holds all the app's data on that side: no event lies before 1970 or after 2299. */
export const closed = (range: OpenRange): Range => ({ from: range.from ?? BEGINNING, to: range.to ?? END });
