import type { Database, Query } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { type Clock, type EpochMs, epochMs, type OpenRange, type Range, type Span } from '../domain/time.ts';
import type { LiveCache } from '../facts/live-sessions.ts';
import type { Keep, Kept } from '../facts/sealed-cache.ts';
import type { LateKey, LateSessions } from './late.ts';

/** What every question is asked with. */
export interface Asker {
  readonly db: Database;
  readonly clock: Clock;
  /** Sessions that are not sealed, as they were read last. */
  readonly live: LiveCache;
  /** What is sealed of the app that is asked about, as it can be used now. */
  readonly facts: AppFacts;
}

export interface AppFacts {
  /** By the start of sessions. */
  sessions(): Promise<SessionFacts>;
  /** By the time of events. */
  pages(): Promise<PageFacts>;
  /** Of raw events alone what is remembered. */
  readonly events: EventFacts;
}

/** What is remembered of one version of the facts. */
export interface Memory {
  /** The rows that `load` brings, or brought before. Nobody may write to what it brings. */
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
   * A value for each of `keys`, and for others asked about before: those that nobody knows yet are brought by `load`, which has to
   * answer for each of its keys.
   */
  recallEach<Value extends Kept>(
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

/** Raw events of hours that are sealed. */
export interface EventFacts {
  readonly app: AppId;
  /** Before this instant hours are sealed. */
  readonly until: EpochMs;
  /** What is remembered of raw events in these spans, which end before `until`: a late event there makes it another memory. */
  of(spans: readonly Span[]): Memory;
}

/** An app's facts of one kind. What is remembered of them reads rows of facts alone, before `until`. */
export interface Facts extends Memory {
  readonly app: AppId;
  /** SQL, of tables of facts: rows of the app that may be read. */
  readonly where: string;
  /** Before this instant facts answer, from it on raw rows do. */
  readonly until: EpochMs;
  /** Whether events came late: the facts are not all that is to be said. */
  readonly hasLate: boolean;
}

export interface SessionFacts extends Facts {
  /** Sessions that started from this instant on are in `sessions`; those before are merged from raw events. */
  readonly keptFrom: EpochMs;
  /** What is to be changed of what the facts say. */
  late(): Promise<LateSessions>;
}

export interface PageFacts extends Facts {
  readonly events: EventFacts;
  /** What is to be changed of what the facts say. */
  late(): Promise<readonly LateKey[]>;
}

const BEGINNING = epochMs(0);
/** The last ms of 2299: what the engine's DateTime64(3) reaches. */
const END = epochMs(Date.UTC(2300, 0, 1) - 1);

/** An omitted bound holds all the app's data on that side: no event lies before 1970 or after 2299. */
export const closed = (range: OpenRange): Range => ({ from: range.from ?? BEGINNING, to: range.to ?? END });
