import type { Logger } from 'pino';
import type { Database } from '../clickhouse/database.ts';
import { AppError } from '../domain/errors.ts';
import type { Clock } from '../domain/time.ts';
import { sharingOf } from '../sharing/choose.ts';
import { type DamagedPart, damagedParts, described } from './damaged-parts.ts';
import { remedyOf } from './losses.ts';
import { dropDamaged, haveExpired, rebuildAll, rebuildFacts } from './rebuild.ts';

export interface DamageDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'warn' | 'info'>;
  /** Stores what a killed process has begun to store. Nothing is stored afterwards. */
  readonly settle: () => Promise<void>;
}

/** The damage of the store, as it was found last. */
export class Damage {
  readonly #deps: DamageDeps;
  #parts: readonly DamagedPart[] = [];
  #way = '';
  #rebuilds = 0;

  constructor(deps: DamageDeps) {
    this.#deps = deps;
  }

  /** Those that are not mended: while there are any, nothing may be answered. */
  get parts(): readonly DamagedPart[] {
    return this.#parts;
  }

  /** How often lost parts were computed again. */
  get rebuilds(): number {
    return this.#rebuilds;
  }

  /** For the operator: what is damaged, and what to do. Null if the store is whole. */
  get message(): string | null {
    return this.#parts.length === 0 ? null : `${described(this.#parts)} ${this.#way}`;
  }

  /**
   * Looks for damaged parts, and computes again what can be. `isStarting`: this process does nothing else yet.
   */
  async look(isStarting: boolean): Promise<void> {
    const { db, clock, log } = this.#deps;
    const parts = await damagedParts(db);
    const remedies = new Set(parts.map(({ table }) => remedyOf(table)));
    const way = parts.length === 0 ? null : await this.#wayOut(remedies, isStarting);
    if (way !== null) {
      this.#way = way;
      this.#parts = parts;
      log.error({ parts }, this.message ?? '');
      return;
    }
    if (parts.length > 0) {
      const began = performance.now();
      log.warn({ parts }, `${described(parts)} Computing again what was lost.`);
      if (remedies.has('all')) await this.#rebuild();
      else if (remedies.has('facts')) await rebuildFacts(db, clock());
      // At the end: a process that stops before begins again.
      await dropDamaged(db, parts);
      this.#rebuilds++;
      log.warn({ parts, ms: Math.round(performance.now() - began) }, 'computed again what was lost');
    }
    this.#parts = [];
  }

  /**
   * Accepts the loss of the damaged parts: drops them, and computes everything that is computed from events from those
   * that are left. Returns the parts. Throws if that cannot be done.
   */
  async accept(): Promise<readonly DamagedPart[]> {
    const { db, log } = this.#deps;
    const parts = this.#parts;
    if (parts.length === 0) return [];
    const remedies = parts.map(({ table }) => remedyOf(table));
    const isOfEvents = parts.some(({ table }) => table === 'events');
    const isComputed = isOfEvents || remedies.some((remedy) => remedy === 'all' || remedy === 'facts');
    if (db.shards.database !== null || (isComputed && (await haveExpired(db))))
      throw new AppError('bad_request', this.message ?? '');
    if (isComputed) await this.#rebuild();
    await dropDamaged(db, parts);
    log.warn({ parts }, 'the loss of damaged parts was accepted');
    this.#parts = [];
    return parts;
  }

  async #rebuild(): Promise<void> {
    await this.#deps.settle();
    await rebuildAll(this.#deps.db);
  }

  /** Null if what was lost can be computed now. */
  async #wayOut(remedies: ReadonlySet<string>, isStarting: boolean): Promise<string | null> {
    const { db } = this.#deps;
    if (db.shards.database !== null) return ON_CLUSTER;
    const isComputed = remedies.has('facts') || remedies.has('all');
    if (isComputed && (await haveExpired(db))) return RESTORE;
    if (remedies.has('accept')) return isStarting ? ACCEPT : RESTART;
    if (remedies.has('all') && !(isStarting && sharingOf(db).isStillAtStart))
      return isStarting ? REBUILD : RESTART;
    return null;
  }
}

const ACCEPT =
  'Nothing is answered until you restore a backup, or accept the loss: session-analytics admin damage accept.';
const RESTART = 'Nothing is answered. Stop all processes and start one: it says what to do.';
const REBUILD =
  'Nothing is answered until all other processes are stopped and you have it computed again: session-analytics admin damage accept.';
const RESTORE =
  'Events have expired, so nothing can compute it again, and nothing is answered: restore a backup (docs/backups.md).';
const ON_CLUSTER =
  'Nothing is answered until ClickHouse has the part again, or it is gone from system.detached_parts (docs/runbook.md).';
