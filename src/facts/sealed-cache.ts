import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Query } from '../clickhouse/database.ts';

/** Rows of one statement are alike: so many of them, from all over, tell how large all are. */
const SAMPLE = 64;
/** What a row and an entry take beside their text. */
const ROW_BYTES = 100;
const ENTRY_BYTES = 1_000;
/** What one of the values takes that were asked for by key: a number, or each of several. */
const VALUE_BYTES = 250;
export type Kept = number | ReadonlyMap<string, number> | readonly unknown[];

const valuesIn = (kept: Kept): number =>
  typeof kept === 'number' ? 1 : 1 + ('size' in kept ? kept.size : kept.length);

const DEFAULT_BYTES = 64 * 1024 ** 2;
/** Statements that were asked once. */
const MOST_SEEN = 10_000;

/**
 * When a statement's rows are kept. The sealed hours in the middle of a poller's range are the same for an hour: at once. Its ragged
 * ends may move by the millisecond, or never: when they are asked for again.
 */
export type Keep = 'at once' | 'when repeated';

/**
 * What statements brought that read what is sealed and nothing else, for the next question about the same. An entry belongs to a
 * version of the facts (see `Snapshot.facts`), and is never used for another one.
 */
export class SealedCache {
  readonly #kept: LRUCache<string, object> | null;
  readonly #seen = new LRUCache<string, true>({ max: MOST_SEEN });

  /** `maxBytes`, about, are kept at most; 0: nothing. */
  constructor(maxBytes = DEFAULT_BYTES) {
    this.#kept = maxBytes === 0 ? null : new LRUCache({ maxSize: maxBytes });
  }

  /**
   * What `make` makes of the rows: kept, or loaded now; always loaded where `version` is null. Nobody may write to it. `load` hears
   * whether its rows are kept because they are asked for again. Rejects with what it rejects with, and keeps nothing then.
   */
  async get<Row, Made extends object>(
    { name, sql }: Pick<Query<Row>, 'name' | 'sql'>,
    version: string | null,
    load: (isRepeated: boolean) => Promise<readonly Row[]>,
    make: (rows: readonly Row[]) => Made,
    keep: Keep = 'at once',
  ): Promise<Made> {
    if (version === null || this.#kept === null) return make(await load(false));
    const key = keyOf({ name, sql }, version);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept as Made;
    const isRepeated = keep === 'when repeated' && this.#seenBefore(key);
    const rows = await load(isRepeated);
    const made = make(rows);
    if (keep === 'at once' || isRepeated) {
      this.#kept.set(key, made, { size: bytesOf(rows) + key.length + ENTRY_BYTES });
    }
    return made;
  }

  /**
   * A value for each of `keys`: known, or brought now by `load`, which gets the keys that are not known yet and has to answer for each
   * of them. What `query` names is what was asked for before about other keys. Rejects with what `load` rejects with.
   */
  async each<Value extends Kept>(
    query: Pick<Query<unknown>, 'name' | 'sql'>,
    version: string | null,
    keys: readonly string[],
    load: (unknown: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ): Promise<ReadonlyMap<string, Value>> {
    if (version === null || this.#kept === null) return load(keys);
    const key = keyOf(query, version);
    const known = (this.#kept.get(key) ?? new Map()) as Map<string, Value>;
    const unknown = keys.filter((each) => !known.has(each));
    if (unknown.length > 0) {
      for (const [each, value] of await load(unknown)) known.set(each, value);
      let values = 0;
      for (const value of known.values()) values += valuesIn(value);
      this.#kept.set(key, known, { size: values * VALUE_BYTES + key.length + ENTRY_BYTES });
    }
    return known;
  }

  /** Whether it was asked for before; from now on it was. Never where nothing can be kept. */
  isRepeated(query: Pick<Query<unknown>, 'name' | 'sql'>, version: string | null): boolean {
    if (version === null || this.#kept === null) return false;
    const key = keyOf(query, version);
    return this.#kept.has(key) || this.#seenBefore(key);
  }

  #seenBefore(key: string): boolean {
    const short = createHash('sha1').update(key).digest('base64');
    const seen = this.#seen.has(short);
    this.#seen.set(short, true);
    return seen;
  }

  /** For measurements: as if nobody had asked yet. */
  clear(): void {
    this.#kept?.clear();
    this.#seen.clear();
  }
}

/** A statement's name says what is made of its rows. */
const keyOf = ({ name, sql }: Pick<Query<unknown>, 'name' | 'sql'>, version: string): string =>
  `${name} ${version} ${sql}`;

function bytesOf(rows: readonly unknown[]): number {
  if (rows.length === 0) return 0;
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const sample = Array.from({ length: Math.min(rows.length, SAMPLE) }, (_, i) => rows[i * step]);
  const each = JSON.stringify(sample).length / sample.length;
  return Math.ceil(rows.length * (2 * each + ROW_BYTES));
}
