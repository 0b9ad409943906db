import type { FactKind } from '../domain/fact-kinds.ts';

/** A sealed hour whose facts do not hold all committed events, or may not, because a visitor is being erased. */
export interface LateHour {
  /** Its start, epoch ms. */
  readonly hour: number;
  /** Number of events in the ledger. */
  readonly committed: number;
  /** Number of events in the facts. */
  readonly held: number;
  /**
   * The facts hold no event that was inserted later, by the store's clock (epoch ms); 0 if they hold none of
   * this hour.
   */
  readonly insertedUntil: number;
  /**
   * The time of the last event in the ledger (epoch ms). For session facts, of any session that started in
   * the hour.
   */
  readonly lastEvent: number;
}

/** In order of time, by kind of facts. */
export type LateHours = { readonly [Kind in FactKind]: readonly LateHour[] };

/** Identifies the late events of these hours: the text changes with each new one. */
export const lateVersion = (hours: readonly LateHour[]): string =>
  hours.map(({ hour, committed }) => `${hour}:${committed}`).join(' ');

/** If more hours of a kind are late, raw rows answer from the first one on. */
export const MOST_LATE_HOURS = 500;
