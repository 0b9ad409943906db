import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import { sql } from '../clickhouse/sql.ts';
import type { Lease } from './sharing.ts';

/** A process that has not renewed its lease for this long counts as dead. Measured by the store's clock. */
const LEASE_SECONDS = 60;
const RENEW_MS = 15_000;
const NOBODY = 0;

/** Rows from the future are ignored: another clock was ahead when they were written. */
const HOLDER: Query<{ holder: number }> = {
  name: 'sealing lease',
  sql: sql`SELECT argMax(holder, (seen_at, holder)) AS holder FROM sealing_leases
WHERE seen_at > now64(3) - INTERVAL ${LEASE_SECONDS} SECOND AND seen_at <= now64(3) + INTERVAL ${LEASE_SECONDS} SECOND`,
  row: z.object({ holder: z.number() }),
};

/**
 * Keeps several processes from doing the same work: the process that seals renews its row every few seconds.
 * Two that seal at once do no harm (see facts/runs.ts); the first that notices ends its pass.
 */
export class StoreLease implements Lease {
  readonly #db: Database;
  readonly #holder = randomInt(1, 2 ** 47);

  constructor(db: Database) {
    this.#db = db;
  }

  async hold(work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    if (!(await this.#isOurs([NOBODY, this.#holder]))) return false;
    await this.#say(this.#holder);
    const lost = new AbortController();
    const renewal = setInterval(() => {
      this.#renew().then(
        (isOurs) => {
          if (!isOurs) lost.abort();
        },
        () => undefined,
      );
    }, RENEW_MS);
    try {
      if (await this.#isOurs([this.#holder])) await work(lost.signal);
      return true;
    } finally {
      clearInterval(renewal);
      // If this fails, the lease expires.
      await this.#say(NOBODY).catch(() => undefined);
    }
  }

  async #renew(): Promise<boolean> {
    if (!(await this.#isOurs([NOBODY, this.#holder]))) return false;
    await this.#say(this.#holder);
    return true;
  }

  async #isOurs(holders: readonly number[]): Promise<boolean> {
    const { holder } = await this.#db.queryOne(HOLDER, {}, { lane: 'lookup' });
    return holders.includes(holder);
  }

  #say(holder: number): Promise<void> {
    return this.#db.insert('sealing_leases', [{ holder }], { lane: 'write' });
  }
}
