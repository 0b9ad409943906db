import { type BatchKey, batchKey } from './batch-key.ts';
import type { OpenFlush } from './journal-sql.ts';
import type { IngestLog, Refused } from './retry.ts';
import type { Suspects } from './suspects.ts';

/** See `Underway.announce`. Null if the flush is not announced. */
export type Landed = (() => void) | null;

interface HeldFlush extends OpenFlush {
  readonly batches: ReadonlySet<string>;
  /** Null if nothing of the flush is stored, or all but its marks. */
  readonly landed: Landed;
}

/**
 * Flushes with a step that the store refuses because of their content. Some of their rows may be stored, and nobody waits
 * for them. They are retried until they are whole.
 */
export class HeldFlushes {
  readonly #flushes = new Map<string, HeldFlush>();
  readonly #suspects: Suspects;
  readonly #log: IngestLog;

  constructor(suspects: Suspects, log: IngestLog) {
    this.#suspects = suspects;
    this.#log = log;
  }

  get all(): readonly HeldFlush[] {
    return [...this.#flushes.values()];
  }

  get(id: string): HeldFlush | undefined {
    return this.#flushes.get(id);
  }

  /** True if the batch is in a flush that is held. */
  have(batch: BatchKey): boolean {
    const key = batchKey(batch);
    return this.all.some(({ batches }) => batches.has(key));
  }

  add(open: OpenFlush, batches: readonly BatchKey[], landed: Landed, refusal: Refused): void {
    const { id, batch, decided } = open;
    const isNew = !this.#flushes.has(id);
    const keys = new Set(batches.map(batchKey));
    this.#flushes.set(id, { id, batch, decided, batches: keys, landed });
    if (!isNew) return;
    this.#suspects.add(refusal.batches ?? batches, refusal.batches !== null);
    const facts = { err: refusal, flush: id, batches: batches.length };
    this.#log.error(facts, 'ingestion: a flush is held, because the store refuses a step of it');
  }

  /** For a flush that is whole, or that this process does not store any more. */
  end(id: string, landed: Landed = this.#flushes.get(id)?.landed ?? null): void {
    this.#flushes.delete(id);
    landed?.();
  }
}
