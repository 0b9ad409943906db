import type { Database, Query } from '../clickhouse/database.ts';
import type { AppId } from '../domain/ids.ts';
import { type Clock, type EpochMs, epochMs, type OpenRange, type Range, type Span } from '../domain/time.ts';
import type { LiveCache } from '../facts/live-sessions.ts';
import type { CachedValue, Keep } from '../facts/sealed-cache.ts';
import type { LateKey, LateSessions } from './late.ts';

/** Passed to every question. */
export interface Asker {
  readonly db: Database;
  readonly clock: Clock;
  /** The cache for unsealed sessions. */
  readonly live: LiveCache;
  /** The app's facts at one snapshot. */
  readonly facts: AppFacts;
}

export interface AppFacts {
  /** Facts by the start of sessions. */
  sessions(): Promise<SessionFacts>;
  /** Facts by the time of events. */
  pages(): Promise<PageFacts>;
  /** Cache for rows that are read from raw events. */
  readonly events: EventFacts;
}

/** Cache for rows that belong to one version of the data. */
export interface Memory {
  /** Returns the rows of `load`, cached or loaded now. Callers must not modify them. */
  recall<Row>(
    query: Pick<Query<Row>, 'name' | 'sql'>,
    load: (isRepeated: boolean) => Promise<readonly Row[]>,
    keep?: Keep,
  ): Promise<readonly Row[]>;
  /** The same for a value that `make` makes from the rows. */
  recallMade<Row, Made extends object>(
    query: Pick<Query<Row>, 'name' | 'sql'>,
    load: (isRepeated: boolean) => Promise<readonly Row[]>,
    make: (rows: readonly Row[]) => Made,
    keep?: Keep,
  ): Promise<Made>;
  /**
   * Returns values by key, among them one for each of `keys`. `load` gets the keys that are not cached and
   * must return a value for each of them.
   */
  recallEach<Value extends CachedValue>(
    query: Pick<Query<unknown>, 'name' | 'sql'>,
    keys: readonly string[],
    load: (unknown: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>>;
  /**
   * Returns whether `query` was asked for before, with this method or `recall`, and records that it was asked
   * for now. For a first question, one statement for everything can be faster than loading all rows that are
   * worth caching.
   */
  isRepeated(query: Pick<Query<unknown>, 'name' | 'sql'>): boolean;
}

/** Raw events of sealed hours. */
export interface EventFacts {
  readonly app: AppId;
  /** The watermark: hours before it are sealed. */
  readonly until: EpochMs;
  /**
   * Returns the cache for raw events of these spans, which end before `until`. Each late event in the spans
   * starts a new version.
   */
  of(spans: readonly Span[]): Memory;
}

/** An app's facts of one kind. Cached rows come from facts before `until` alone. */
export interface Facts extends Memory {
  readonly app: AppId;
  /** SQL condition on tables of facts: rows of the app, without those of dead runs. */
  readonly where: string;
  /** The watermark: facts answer before this instant, raw rows from it on. */
  readonly until: EpochMs;
  /** Whether sealed hours got late events, so that `late()` has corrections. */
  readonly hasLate: boolean;
}

export interface SessionFacts extends Facts {
  /** `sessions` holds all sessions that started here or later. Earlier ones are merged from raw events. */
  readonly keptFrom: EpochMs;
  /** Corrections to the facts for late events. */
  late(): Promise<LateSessions>;
}

export interface PageFacts extends Facts {
  readonly events: EventFacts;
  /** Corrections to the facts for late events. */
  late(): Promise<readonly LateKey[]>;
}

const BEGINNING = epochMs(0);
/** The last ms of 2299, the limit of the engine's DateTime64(3). */
const END = epochMs(Date.UTC(2300, 0, 1) - 1);

/** Replaces omitted bounds by the widest ones: no event lies before 1970 or after 2299. */
export const closed = (range: OpenRange): Range => ({ from: range.from ?? BEGINNING, to: range.to ?? END });
