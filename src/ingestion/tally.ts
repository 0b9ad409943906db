import type { RejectionCode } from './validate-event.ts';

/** The reason why a batch was not accepted. Its sender is told to retry. */
export type RefusalCode = 'overloaded' | 'store_unavailable';

/** Counts since the start of this process, for the operator. */
export interface IngestCounts {
  readonly acceptedEvents: number;
  readonly duplicateBatches: number;
  /** Skipped sessions (`invalid_session`, `excluded`, `bot`, `beyond_retention`) and skipped events (the other codes). */
  readonly rejected: Readonly<Partial<Record<RejectionCode, number>>>;
  /** Refused batches. */
  readonly refused: Readonly<Partial<Record<RefusalCode, number>>>;
}

export class Tally {
  #acceptedEvents = 0;
  #duplicateBatches = 0;
  #rejected: Partial<Record<RejectionCode, number>> = {};
  #refused: Partial<Record<RefusalCode, number>> = {};
  /** The counts that `news` has reported already. */
  #told: Readonly<Record<string, number>> = {};

  accept(events: number, rejected: readonly { readonly code: RejectionCode }[]): void {
    this.#acceptedEvents += events;
    for (const { code } of rejected) this.#rejected[code] = (this.#rejected[code] ?? 0) + 1;
  }

  duplicate(): void {
    this.#duplicateBatches++;
  }

  refuse(code: RefusalCode): void {
    this.#refused[code] = (this.#refused[code] ?? 0) + 1;
  }

  counts(): IngestCounts {
    return {
      acceptedEvents: this.#acceptedEvents,
      duplicateBatches: this.#duplicateBatches,
      rejected: { ...this.#rejected },
      refused: { ...this.#refused },
    };
  }

  /** Returns the counts since the last call, by code; null if nothing was skipped or refused. */
  news(): Readonly<Record<string, number>> | null {
    const all: Readonly<Record<string, number>> = { ...this.#rejected, ...this.#refused };
    const fresh = Object.entries(all)
      .map(([code, count]) => [code, count - (this.#told[code] ?? 0)] as const)
      .filter(([, count]) => count > 0);
    this.#told = all;
    return fresh.length === 0 ? null : Object.fromEntries(fresh);
  }
}
