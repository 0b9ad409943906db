import { LRUCache } from 'lru-cache';
import type { Query } from '../clickhouse/database.ts';

/** Rows of one statement are alike: so many of them tell how large all are. */
const SAMPLE = 64;
/** What a row and an entry take beside their text. */
const ROW_BYTES = 100;
const ENTRY_BYTES = 1_000;

/**
 * What statements brought that read sealed facts of whole hours, for the next question about these hours: the ends of a poller's
 * range move by the millisecond, the sealed hours between them by the hour. An entry belongs to a version of the facts (see
 * `Snapshot.facts`), and is never used for another one.
 */
export class SealedCache {
  readonly #kept: LRUCache<string, object> | null;

  /** `maxBytes`, about, are kept at most; 0: nothing. */
  constructor(maxBytes: number) {
    this.#kept = maxBytes === 0 ? null : new LRUCache({ maxSize: maxBytes });
  }

  /**
   * What `make` makes of the rows: kept, or loaded now; always loaded where `version` is null. Nobody may write to it. Rejects with
   * what `load` rejects with, and keeps nothing then.
   */
  async get<Row, Made extends object>(
    { name, sql }: Pick<Query<Row>, 'name' | 'sql'>,
    version: string | null,
    load: () => Promise<readonly Row[]>,
    make: (rows: readonly Row[]) => Made,
  ): Promise<Made> {
    if (version === null || this.#kept === null) return make(await load());
    const key = `${name} ${version} ${sql}`;
    const kept = this.#kept.get(key);
    // The name says which statement it is, and with that what is made of it.
    if (kept !== undefined) return kept as Made;
    const rows = await load();
    const made = make(rows);
    this.#kept.set(key, made, { size: bytesOf(rows) + key.length + ENTRY_BYTES });
    return made;
  }

  /** For measurements: as if nobody had asked yet. */
  clear(): void {
    this.#kept?.clear();
  }
}

function bytesOf(rows: readonly unknown[]): number {
  if (rows.length === 0) return 0;
  const sample = rows.slice(0, SAMPLE);
  const each = JSON.stringify(sample).length / sample.length;
  return Math.ceil(rows.length * (2 * each + ROW_BYTES));
}
