import { LRUCache } from 'lru-cache';
import { Gate, READERS_PATIENCE } from '../../clickhouse/gate.ts';
import { currentCaller } from '../../domain/caller.ts';
import type { Bodies, Body } from '../forms/bodies.ts';
import { type Coding, coded, isWorthCoding } from '../forms/coding.ts';
import type { Column } from '../forms/columns.ts';
import type { Form } from '../forms/forms.ts';

/** How an answer is written: its form, and the content codings that the caller accepts, best first. */
export interface Representation {
  readonly form: Form;
  readonly codings: readonly Coding[];
}

/** The share of the answer cache's memory. */
const SHARE = 1 / 4;
/** The most large answers that are written at once. Each takes memory for its pieces, and processor time. */
const WRITTEN_AT_ONCE = 3;
const MAX_WAITING = 256;

export interface RepresentationsOptions {
  readonly answerCacheBytes: number;
  readonly bodies: Bodies;
}

/**
 * A cache of answers in other forms and content codings than plain JSON. Each is written once, for all
 * callers that ask at the same time or later.
 */
export class Representations {
  readonly #bodies: Bodies;
  readonly #kept: LRUCache<string, Body>;
  readonly #writing = new Map<string, Promise<Body>>();
  readonly #gate = new Gate({ places: WRITTEN_AT_ONCE, maxWaiting: MAX_WAITING, ...READERS_PATIENCE });

  constructor({ answerCacheBytes, bodies }: RepresentationsOptions) {
    this.#bodies = bodies;
    const maxSize = Math.ceil(answerCacheBytes * SHARE);
    this.#kept = new LRUCache({ maxSize, sizeCalculation: ({ memoryBytes }) => memoryBytes + 1_000 });
  }

  /** Returns the answer `json`, identified by `tag`, in this form and in the best coding that it is worth. */
  async of(
    tag: string,
    json: Body,
    { form, codings }: Representation,
    columns: readonly Column[] | null,
  ): Promise<{ readonly body: Body; readonly coding: Coding | null }> {
    const { write, mark } = form;
    const body =
      write === null || columns === null
        ? json
        : await this.#written(`${tag}${mark}`, json, () => write(columns, json));
    const coding = (form.compressible && isWorthCoding(body.length) && codings[0]) || null;
    if (coding === null) return { body, coding };
    return { body: await this.#written(`${tag}${mark}-${coding}`, body, () => coded(body, coding)), coding };
  }

  /** Drops all of them: they do not know their apps. */
  clear(): void {
    for (const body of this.#kept.values()) this.#bodies.drop(body);
    this.#kept.clear();
  }

  #written(name: string, from: Body, write: () => AsyncIterable<Uint8Array>): Promise<Body> {
    const kept = this.#kept.get(name);
    if (kept !== undefined && !kept.isGone) return Promise.resolve(kept);
    const begun = this.#writing.get(name);
    if (begun !== undefined) return begun;
    const writing = this.#write(from, write)
      .then((body) => {
        this.#kept.set(name, body);
        return body;
      })
      .finally(() => this.#writing.delete(name));
    this.#writing.set(name, writing);
    return writing;
  }

  async #write(from: Body, write: () => AsyncIterable<Uint8Array>): Promise<Body> {
    if (from.bytes !== null) return this.#bodies.collect(write());
    const caller = currentCaller();
    // Other callers may wait for it too, so it does not end with the first caller, and its wait has no limit.
    // Refusing it would waste the computed JSON, which cost more than this conversion.
    const place = await this.#gate.enter({
      isLetIn: true,
      ...(caller === undefined ? {} : { key: caller.key }),
    });
    try {
      return await this.#bodies.collect(write());
    } finally {
      this.#gate.leave(place);
    }
  }
}
