import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import { newHistogram } from './histogram.ts';
import { percentile, runsFor } from './statistics.ts';

/** The measurements of a load. Each list has a number for every slice of the time. */
export interface Outcome {
  readonly perSecond: readonly number[];
  readonly p50Ms: readonly number[];
  /** Without the slices that have too few answers for it. */
  readonly p99Ms: readonly number[];
  /** All latencies, as a case of a result holds them. */
  readonly histogram: string;
  /** The number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const SLICE_MS = 1_000;
/** A short measurement has at least so many slices. */
const SLICES = 4;

/** Counts answers as they come. It begins with the measurement. */
export class Tally {
  readonly #began = performance.now();
  readonly #sliceMs: number;
  readonly #slices: number[][];
  readonly #all = newHistogram();
  readonly #statuses: Record<string, number> = {};

  constructor(ms: number) {
    this.#sliceMs = Math.min(SLICE_MS, ms / SLICES);
    this.#slices = Array.from({ length: Math.floor(ms / this.#sliceMs) }, () => []);
  }

  /** An answer after `ms`. One after the end counts as a latency and not in a slice. */
  note(ms: number, status: number): void {
    this.#slices[Math.floor((performance.now() - this.#began) / this.#sliceMs)]?.push(ms);
    this.#all.recordValue(Math.max(1, Math.round(ms * 1000)));
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }

  outcome(): Outcome {
    const full = this.#slices.filter(({ length }) => length > 0);
    return {
      perSecond: this.#slices.map(({ length }) => (length * 1000) / this.#sliceMs),
      p50Ms: full.map((slice) => percentile(slice, 0.5)),
      p99Ms: full.filter(({ length }) => length >= runsFor(0.99)).map((slice) => percentile(slice, 0.99)),
      histogram: encodeIntoCompressedBase64(this.#all),
      statuses: this.#statuses,
    };
  }
}
