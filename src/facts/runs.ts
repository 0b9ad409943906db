import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import type { Shards } from '../clickhouse/shards.ts';
import { type Sql, sql } from '../clickhouse/sql.ts';
import type { FactKind } from '../domain/fact-kinds.ts';

/*
 * Sealing writes to a dozen tables in a dozen statements, and a process can stop between two of them, for a
 * day or for ever. So each row of facts carries the number of the run that wrote it, and each run ends with
 * one verdict:
 *
 * 1. The run is recorded with its apps.
 * 2. All other runs of these apps without a verdict are declared dead. A run that published meanwhile keeps
 *    its verdict.
 * 3. The run reads how far its apps are sealed, writes its rows and compares them with the ledger.
 * 4. It publishes, unless another run declared it dead.
 *
 * A verdict is inserted with the run's number as the token: the store keeps the first one and drops the
 * others. If two runs of one app overlap, the one that was recorded later finds the other and ends it. So at
 * most one of them publishes, and it has read the state that it changes. Rows of dead runs are never read, so
 * nothing that a dead process writes changes an answer, nor a statement that continues after its connection
 * was cut. A run with a failed statement is never published, because that statement may still be running. A
 * run that ends before it wrote anything is void: there are no rows to ignore.
 */

/** Random, so that no two runs share a number. 52 bits fit in a JavaScript number. */
const newNumber = (): number => randomInt(2 ** 47) * 32 + randomInt(32);

const MAX_SECONDS = 60;
const SEAL = { lane: 'seal', maxSeconds: MAX_SECONDS } as const;

/** A new state of an app's facts, published by a run. */
export interface Step {
  readonly app: string;
  /** The app's previous step plus one. */
  readonly step: number;
  /** The watermark: facts answer before this instant (epoch ms, a whole hour). */
  readonly until: number;
  /** The last run after which rows that earlier snapshots refer to may be deleted. */
  readonly era: number;
  /** The last run that dropped all facts. */
  readonly rebuilt: number;
  /** Raw events are kept from here on (epoch ms, a whole UTC day; 0: all). It never moves back. */
  readonly horizon: number;
}

/** Thrown if the run was declared dead: another process seals its apps now. */
export class RunEnded extends Error {
  constructor() {
    super('another process seals these apps now');
    this.name = 'RunEnded';
  }
}

const OTHERS: Query<{ run: number }> = {
  name: 'seal: other runs',
  sql: sql`SELECT DISTINCT run FROM sealing_runs
WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)} AND run NOT IN {runs:Array(UInt64)}
    AND run NOT IN (SELECT run FROM sealing_verdicts WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)})`,
  row: z.object({ run: z.number() }),
};

const VERDICT_COLUMNS = 'app_id kind run verdict step sealed_until era rebuilt horizon'.split(' ');

/** Only for a run that is recorded and has no verdict. A run whose record was deleted long ago gets none. */
const END = sql`SELECT DISTINCT app_id, kind, run, {verdict:String}, 0, 0, 0, 0, 0 FROM sealing_runs
WHERE run = {run:UInt64} AND run NOT IN (SELECT run FROM sealing_verdicts WHERE run = {run:UInt64})`;

const PUBLISH = sql`SELECT toUUID(row.1), {kind:String}, {run:UInt64}, 'published', row.2, row.3, row.4, row.5, row.6
FROM (SELECT arrayJoin(arrayZip({apps:Array(String)}, {steps:Array(UInt64)}, {untils:Array(Int64)}, {eras:Array(UInt64)}, {rebuilds:Array(UInt64)}, {horizons:Array(Int64)})) AS row)
WHERE {run:UInt64} NOT IN (SELECT run FROM sealing_verdicts WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)})`;

const VERDICT: Query<{ dead: number; published: number }> = {
  name: 'seal: verdict',
  sql: sql`SELECT toUInt32(countIf(verdict = 'dead')) AS dead, toUInt32(countIf(verdict = 'published')) AS published
FROM sealing_verdicts WHERE app_id IN {apps:Array(UUID)} AND kind = {kind:String} AND run = {run:UInt64}`,
  row: z.object({ dead: z.number(), published: z.number() }),
};

/** A run of this process. */
export class Run {
  readonly #db: Database;
  readonly #kind: FactKind;
  readonly #apps: readonly string[];
  readonly number = newNumber();
  #hasBegun = false;
  #isPublished = false;

  private constructor(db: Database, kind: FactKind, apps: readonly string[]) {
    this.#db = db;
    this.#kind = kind;
    this.#apps = apps;
  }

  /**
   * Opens `count` runs of the same apps and ends all other runs of these apps. State that is read after this
   * is current until one of the opened runs publishes.
   */
  static async open(db: Database, kind: FactKind, apps: readonly string[], count = 1): Promise<Run[]> {
    const runs = Array.from({ length: count }, () => new Run(db, kind, apps));
    const rows = runs.flatMap(({ number }) => apps.map((app) => ({ run: number, app_id: app, kind })));
    await db.insert('sealing_runs', rows, { lane: 'seal', token: `${runs[0]?.number}` });
    const own = runs.map(({ number }) => number);
    const others = await db.query(OTHERS, { kind, apps, runs: own }, SEAL);
    for (const { run } of others) await endRun(db, run, 'dead', apps);
    return runs;
  }

  /** Call this before the first row is written: from then on the run is either published or dead. */
  begin(): void {
    this.#hasBegun = true;
  }

  /** Throws `RunEnded` if another process has declared the run dead. */
  async assertAlive(): Promise<void> {
    if ((await this.#verdict()).dead > 0) throw new RunEnded();
  }

  /**
   * Publishes a step of each app in one insert. Throws `RunEnded` if the run was declared dead before. `outdated` are
   * the apps whose snapshots are to be read anew; all by default.
   */
  async publish(
    steps: readonly Step[],
    outdated: readonly string[] = steps.map(({ app }) => app),
  ): Promise<void> {
    const params = {
      kind: this.#kind,
      run: this.number,
      apps: steps.map(({ app }) => app),
      steps: steps.map(({ step }) => step),
      untils: steps.map(({ until }) => until),
      eras: steps.map(({ era }) => era),
      rebuilds: steps.map(({ rebuilt }) => rebuilt),
      horizons: steps.map(({ horizon }) => horizon),
    };
    await this.#db.insertFrom('sealing_verdicts', VERDICT_COLUMNS, PUBLISH, params, {
      lane: 'seal',
      token: `${this.number}`,
      about: outdated,
    });
    const { dead, published } = await this.#verdict();
    if (dead > 0 || published === 0) throw new RunEnded();
    this.#isPublished = true;
  }

  /** Ends a run that did not publish. Its rows, if any, are never read. */
  async end(): Promise<void> {
    if (this.#isPublished) return;
    await endRun(this.#db, this.number, this.#hasBegun ? 'dead' : 'void', this.#apps);
  }

  #verdict() {
    return this.#db.queryOne(VERDICT, { kind: this.#kind, apps: this.#apps, run: this.number }, SEAL);
  }
}

function endRun(db: Database, run: number, verdict: 'dead' | 'void', apps: readonly string[]): Promise<void> {
  // Another run may hold apps that are not ours, so no app names its shard.
  const options = { lane: 'seal', token: `${run}`, about: apps, everyShard: true } as const;
  return db.insertFrom('sealing_verdicts', VERDICT_COLUMNS, END, { run, verdict }, options);
}

const forgetOldRuns = ({ stored, beside }: Shards): Sql => sql`DELETE FROM ${stored('sealing_runs')}
WHERE opened_at < now64(3) - INTERVAL 1 DAY AND run IN (SELECT run FROM ${beside('sealing_verdicts')})`;
const forgetOldSteps = ({ stored, beside }: Shards): Sql => sql`DELETE FROM ${stored('sealing_verdicts')}
WHERE verdict != 'dead' AND run NOT IN (SELECT run FROM ${beside('sealing_runs')})
    AND (app_id, kind, step) NOT IN
        (SELECT app_id, kind, max(step) FROM ${beside('sealing_verdicts')} WHERE verdict = 'published' GROUP BY app_id, kind)`;

const OUTDATED: Query<{ runs: number; steps: number }> = {
  name: 'seal: outdated runs',
  sql: sql`SELECT
    (SELECT toUInt32(count()) FROM sealing_runs
        WHERE opened_at < now64(3) - INTERVAL 1 DAY AND run IN (SELECT run FROM sealing_verdicts)) AS runs,
    (SELECT toUInt32(count()) FROM sealing_verdicts WHERE verdict != 'dead') AS steps`,
  row: z.object({ runs: z.number(), steps: z.number() }),
};
/** Fewer are not worth a deletion. */
const MANY = 10_000;

/**
 * Deletes runs that ended more than a day ago, and steps that were replaced. Dead verdicts stay: rows of
 * these runs may still arrive.
 */
export async function forgetRuns(db: Database): Promise<void> {
  const { runs, steps } = await db.queryOne(OUTDATED, {}, { ...SEAL, everyShard: true });
  if (runs >= MANY) await db.command('seal: forget runs', forgetOldRuns(db.shards), {}, SEAL);
  if (steps >= MANY) await db.command('seal: forget steps', forgetOldSteps(db.shards), {}, SEAL);
}
