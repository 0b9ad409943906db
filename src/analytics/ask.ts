import type { Database, Query } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { type Clock, type EpochMs, epochMs, type OpenRange, type Range } from '../domain/time.ts';
import type { LiveCache } from '../facts/live-sessions.ts';
import type { Keep } from '../facts/sealed-cache.ts';
import type { FactKind } from '../facts/watermarks.ts';

/** What every question is asked with. */
export interface Asker {
  readonly db: Database;
  readonly clock: Clock;
  /** Sessions that are not sealed, as they were read last. */
  readonly live: LiveCache;
  /** The app's facts as they can be used now. */
  facts(app: AppId): Promise<{ readonly [Kind in FactKind]: Facts }>;
}

/** An app's facts of one kind. */
export interface Facts {
  readonly app: AppId;
  /** SQL, of tables of facts: rows of the app that may be read. */
  readonly where: string;
  /** Before this instant facts answer, from it on raw rows do. */
  readonly until: EpochMs;
  /** Sessions that started from this instant on are in `sessions`; those before are merged from raw events. */
  readonly keptFrom: EpochMs;
  /**
   * The rows that `load` brings, or brought before. `query` reads facts, or raw events, from before `until` alone; nobody may write to
   * what it brings.
   */
  recall<Row>(
    query: Pick<Query<Row>, 'name' | 'sql'>,
    load: (isRepeated: boolean) => Promise<readonly Row[]>,
    keep?: Keep,
  ): Promise<readonly Row[]>;
  /** The same for what `make` makes of the rows. */
  recallMade<Row, Made extends object>(
    query: Pick<Query<Row>, 'name' | 'sql'>,
    load: (isRepeated: boolean) => Promise<readonly Row[]>,
    make: (rows: readonly Row[]) => Made,
    keep?: Keep,
  ): Promise<Made>;
  /**
   * A value of sealed facts for each of `keys`, and for others asked about before: those that nobody knows yet are brought by `load`,
   * which has to answer for each of its keys.
   */
  recallEach<Value extends number | ReadonlyMap<string, number>>(
    query: Pick<Query<unknown>, 'name' | 'sql'>,
    keys: readonly string[],
    load: (unknown: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>>;
  /**
   * Whether `query` was asked for before, by this or by `recall`; from now on it was. Where it was not, one statement for everything
   * can be faster than what brings all that is worth to be remembered.
   */
  isRepeated(query: Pick<Query<unknown>, 'name' | 'sql'>): boolean;
}

const BEGINNING = epochMs(0);
/** The last ms of 2299: what the engine's DateTime64(3) reaches. */
const END = epochMs(Date.UTC(2300, 0, 1) - 1);

/** An omitted bound holds all the app's data on that side: no event lies before 1970 or after 2299. */
export const closed = (range: OpenRange): Range => ({ from: range.from ?? BEGINNING, to: range.to ?? END });
