import type { RejectionCode } from './validate-event.ts';

/** Why a batch was not taken; its sender is told to come again. */
export type RefusalCode = 'overloaded' | 'store_unavailable';

/** Counts of this process since its start, for the operator. */
export interface IngestCounts {
  readonly acceptedEvents: number;
  readonly duplicateBatches: number;
  /** Sessions (`invalid_session`, `bot`) and events (the others) that were left out. */
  readonly rejected: Readonly<Partial<Record<RejectionCode, number>>>;
  /** Batches. */
  readonly refused: Readonly<Partial<Record<RefusalCode, number>>>;
}

export class Tally {
  #acceptedEvents = 0;
  #duplicateBatches = 0;
  #rejected: Partial<Record<RejectionCode, number>> = {};
  #refused: Partial<Record<RefusalCode, number>> = {};
  /** What `news` has told already. */
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

  /** What was left out or refused since this was last asked, by code; null for nothing. */
  news(): Readonly<Record<string, number>> | null {
    const all: Readonly<Record<string, number>> = { ...this.#rejected, ...this.#refused };
    const fresh = Object.entries(all)
      .map(([code, count]) => [code, count - (this.#told[code] ?? 0)] as const)
      .filter(([, count]) => count > 0);
    this.#told = all;
    return fresh.length === 0 ? null : Object.fromEntries(fresh);
  }
}
