import type { Database } from '../clickhouse/database.ts';
import type { FactKind } from '../domain/fact-kinds.ts';
import { type EpochMs, epochMs, type Span } from '../domain/time.ts';
import { eventsIn, type HourCounts } from './hour-counts.ts';
import type { AppState } from './seal-states.ts';

/** Passed to everything that seals. */
export interface SealDeps {
  readonly db: Database;
  /** Restricts sealing to these apps; all apps by default. */
  readonly only?: readonly string[];
  /** Ends the work after the current statement. */
  readonly signal?: AbortSignal;
  /** Called after each stretch. */
  readonly onStretch?: (stretch: Stretch) => void;
}

/** A stretch: the hours that a run has sealed together, at most as many as one statement should compute. */
export interface Stretch {
  readonly kind: FactKind;
  readonly apps: number;
  readonly events: number;
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** True for hours that got late events, false for new hours. */
  readonly isRepair: boolean;
  readonly ms: number;
}

/** The hours that a run seals, of apps that share a watermark. */
export interface Work {
  readonly kind: FactKind;
  readonly states: readonly AppState[];
  /** The first hour whose facts may be incomplete. */
  readonly from: number;
  /** The watermark that the run publishes if nothing changes meanwhile. */
  readonly to: number;
  /** The hours to compute, in order. */
  readonly spans: readonly Span[];
  /** The hours whose older rows are deleted: those of `spans`, or all that follow. */
  readonly cleared: readonly Span[];
  /** The ledger's count of each hour, read before anything is computed. */
  readonly ledger: HourCounts;
  /** True if no hour from `from` on is published. */
  readonly isNew: boolean;
}

/** Describes the work that ends now. */
export const described = (work: Work, started: number): Stretch => ({
  kind: work.kind,
  apps: work.states.length,
  events: eventsIn(work.ledger, work.spans),
  from: epochMs(work.spans[0]?.start ?? work.from),
  to: epochMs(work.isNew ? work.to : (work.spans.at(-1)?.end ?? work.to)),
  isRepair: !work.isNew,
  ms: performance.now() - started,
});
