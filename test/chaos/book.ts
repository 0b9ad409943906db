import type { AppId } from '../../src/domain/ids.ts';
import { KNOWN_DOMAIN, known } from '../support/oracle/known.ts';
import type { Delivery } from '../support/oracle/model.ts';
import { createOracle, type Oracle } from '../support/oracle/oracle.ts';
import type { Batch } from './traffic.ts';

/** The batches that an app was sent, and those that were acknowledged. */
export class Book {
  readonly app: AppId;
  readonly #sent = new Map<string, Batch>();
  readonly #acknowledged = new Map<string, Batch>();
  #oracles: { readonly of: string; readonly oracle: Oracle }[] = [];
  readonly #now: () => number;

  constructor(app: AppId, now: () => number) {
    this.app = app;
    this.#now = now;
  }

  /** From now on the batch may count. */
  send(batch: Batch): void {
    this.#sent.set(batch.batchId, batch);
  }

  /** From now on the batch must count. */
  acknowledge(batch: Batch): void {
    this.#acknowledged.set(batch.batchId, batch);
  }

  /** A copy of the current list. */
  get acknowledged(): readonly Batch[] {
    return [...this.#acknowledged.values()];
  }

  get sent(): readonly Batch[] {
    return [...this.#sent.values()];
  }

  /** Returns the oracle of these batches. Two lists of one kind and length are the same list. */
  oracle(batches: readonly Batch[], kind: 'acknowledged' | 'sent'): Oracle {
    const of = `${kind} ${batches.length}`;
    const found = this.#oracles.find((each) => each.of === of);
    if (found !== undefined) return found.oracle;
    const deliveries = batches.flatMap(({ parts }) =>
      parts.map((part): Delivery => ({ ...part, appId: this.app, appDomain: KNOWN_DOMAIN })),
    );
    const oracle = createOracle(deliveries, known, this.#now);
    this.#oracles = [{ of, oracle }, ...this.#oracles.slice(0, 9)];
    return oracle;
  }
}
