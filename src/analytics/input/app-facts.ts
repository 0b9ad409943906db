import type { Database } from '../../clickhouse/database.ts';
import type { Sql } from '../../clickhouse/sql.ts';
import type { FactKind } from '../../domain/fact-kinds.ts';
import type { AppId } from '../../domain/ids.ts';
import type { Segment } from '../../domain/segment.ts';
import { type EpochMs, EVER, type OpenRange, type Range, type Span } from '../../domain/time.ts';
import type { LateHour } from '../../snapshots/late-hour.ts';
import type { Ends } from '../../snapshots/tail-end.ts';
import type { Cache } from '../memory/memory.ts';

/** An app's facts at one snapshot, the input of every question. */
export interface AppFacts {
  readonly db: Database;
  readonly app: AppId;
  /** Narrows the answer to some sessions; null: all. */
  readonly segment: Segment | null;
  /** The first and last start of a session; null without data. */
  readonly starts: Range | null;
  /** The first and last instant with an event or the start of a session; null without data. */
  readonly extent: Range | null;
  /** Facts by the start of sessions. */
  readonly sessions: SessionFacts;
  /** Facts by the time of events. */
  readonly pages: PageFacts;
  readonly events: EventFacts;
}

/** Raw events. Those of sealed hours can be kept. */
export interface EventFacts extends Ends {
  readonly db: Database;
  readonly app: AppId;
  /** The watermark: hours before it are sealed. */
  readonly until: EpochMs;
  /** Raw events are kept from this instant on, a whole UTC day; 0: all of them. */
  readonly horizon: EpochMs;
  /** The number of committed events. */
  readonly version: number;
  /** The cache of raw rows from the watermark on, of any version. */
  readonly live: Cache;
  /**
   * The cache of raw events of these spans. Each late event in the spans begins a new cache. Nothing is kept of
   * spans that end after `until`.
   */
  of(spans: readonly Span[]): Cache;
}

/** An app's facts of one kind. */
export interface Facts {
  readonly db: Database;
  readonly app: AppId;
  readonly kind: FactKind;
  /** SQL condition on tables of facts: rows of the app, without those of dead runs. */
  readonly where: Sql;
  /** The watermark: facts answer before this instant, raw rows from it on. */
  readonly until: EpochMs;
  /** The cache of facts before `until`. */
  readonly cache: Cache;
  /** Hours before `until` with late events. */
  readonly lateHours: readonly LateHour[];
}

export interface SessionFacts extends Facts {
  /** Facts from here on can be computed again, a whole UTC day. */
  readonly horizon: EpochMs;
  /** `sessions` holds all sessions that started here or later. Earlier ones are merged from raw events. */
  readonly keptFrom: EpochMs;
  /** The number of committed events. */
  readonly version: number;
  /** So many of them are pending that the store counts their sessions sooner than it hands them over. */
  readonly areMany: boolean;
  /** The cache of pending sessions of any version. */
  readonly live: Cache;
}

export interface PageFacts extends Facts {
  readonly events: EventFacts;
  /** The facts hold no event that was inserted later. Raw rows of sealed hours count those up to here. */
  readonly heldUntil: EpochMs;
  /** Hours in which sealed sessions with late events started. */
  readonly lateStarts: readonly LateHour[];
  /** The number of committed events. */
  readonly version: number;
  /** The cache of pending events of any version. */
  readonly live: Cache;
}

/** Replaces omitted bounds by the widest ones. */
export const closed = (range: OpenRange): Range => ({
  from: range.from ?? EVER.from,
  to: range.to ?? EVER.to,
});
