import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Database, Query } from '../clickhouse/database.ts';
import type { FactKind } from './watermarks.ts';

/*
 * Sealing writes to a dozen tables in a dozen statements, and any process may stop between two of them, for ever or for a day. So each
 * row of facts carries the number of the run that wrote it, and a run ends with one verdict:
 *
 * 1. The run is written down with its apps.
 * 2. Each other run that is written down for one of these apps and has no verdict is declared dead, unless it published first.
 * 3. Now the run reads how far its apps are sealed, writes its rows and compares them with the ledger.
 * 4. It publishes, unless another run declared it dead.
 *
 * A verdict is inserted with the run's number as the token: the store keeps the first and drops the others. Of two runs for one app
 * that overlap, the one that was written down later sees the other and ends it, so at most one of them publishes, and a run that
 * publishes has read the state that it changes. Rows of dead runs are never read: whatever a process writes that was declared
 * dead, or a statement that goes on after its connection was cut, changes no answer. A run in which a statement failed is never
 * published, for that statement may still be running. A run that ends before it wrote anything is void: there is nothing to be left out.
 */

/** Random, so that no two runs share a number; of 52 bits, which a JavaScript number holds. */
const newNumber = (): number => randomInt(2 ** 47) * 32 + randomInt(32);

const MAX_SECONDS = 60;
const SEAL = { lane: 'seal', maxSeconds: MAX_SECONDS } as const;

/** The step that a run publishes of an app. */
export interface Step {
  readonly app: string;
  /** One more than the app's last step. */
  readonly step: number;
  /** Facts answer before this instant (epoch ms, a whole hour). */
  readonly until: number;
  /** The last run after which rows that were read before may be gone. */
  readonly era: number;
  /** The last run that forgot all facts. */
  readonly rebuilt: number;
}

/** The run was declared dead: another process seals its apps now. */
export class RunEnded extends Error {
  constructor() {
    super('another process seals these apps now');
    this.name = 'RunEnded';
  }
}

const OTHERS: Query<{ run: number }> = {
  name: 'seal: other runs',
  sql: `SELECT DISTINCT run FROM sealing_runs
WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)} AND run NOT IN {runs:Array(UInt64)}
    AND run NOT IN (SELECT run FROM sealing_verdicts WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)})`,
  row: z.object({ run: z.number() }),
};

const VERDICT_COLUMNS = ['app_id', 'kind', 'run', 'verdict', 'step', 'sealed_until', 'era', 'rebuilt'];

/** Only of a run that is written down and has no verdict: of one that was forgotten long ago nothing may be said. */
const END = `SELECT DISTINCT app_id, kind, run, {verdict:String}, 0, 0, 0, 0 FROM sealing_runs
WHERE run = {run:UInt64} AND run NOT IN (SELECT run FROM sealing_verdicts WHERE run = {run:UInt64})`;

const PUBLISH = `SELECT toUUID(row.1), {kind:String}, {run:UInt64}, 'published', row.2, row.3, row.4, row.5
FROM (SELECT arrayJoin(arrayZip({apps:Array(String)}, {steps:Array(UInt64)}, {untils:Array(Int64)}, {eras:Array(UInt64)}, {rebuilds:Array(UInt64)})) AS row)
WHERE {run:UInt64} NOT IN (SELECT run FROM sealing_verdicts WHERE kind = {kind:String} AND app_id IN {apps:Array(UUID)})`;

const VERDICT: Query<{ dead: number; published: number }> = {
  name: 'seal: verdict',
  sql: `SELECT toUInt32(countIf(verdict = 'dead')) AS dead, toUInt32(countIf(verdict = 'published')) AS published
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

  /** Opens `count` runs about the same apps, and ends those of others. What is read from now on holds until one of them publishes. */
  static async open(db: Database, kind: FactKind, apps: readonly string[], count = 1): Promise<Run[]> {
    const runs = Array.from({ length: count }, () => new Run(db, kind, apps));
    const rows = runs.flatMap(({ number }) => apps.map((app) => ({ run: number, app_id: app, kind })));
    await db.insert('sealing_runs', rows, { lane: 'seal', token: `${runs[0]?.number}` });
    const own = runs.map(({ number }) => number);
    const others = await db.query(OTHERS, { kind, apps, runs: own }, SEAL);
    for (const { run } of others) await endRun(db, run, 'dead', apps);
    return runs;
  }

  /** To be called before the first row is written: from now on the run is either published or dead. */
  begin(): void {
    this.#hasBegun = true;
  }

  /** Throws `RunEnded` where another process has declared it dead. */
  async assertAlive(): Promise<void> {
    if ((await this.#verdict()).dead > 0) throw new RunEnded();
  }

  /** Publishes a step of each app in one insert. Throws `RunEnded` where the run was declared dead before. */
  async publish(steps: readonly Step[]): Promise<void> {
    const params = {
      kind: this.#kind,
      run: this.number,
      apps: steps.map(({ app }) => app),
      steps: steps.map(({ step }) => step),
      untils: steps.map(({ until }) => until),
      eras: steps.map(({ era }) => era),
      rebuilds: steps.map(({ rebuilt }) => rebuilt),
    };
    await this.#db.insertFrom('sealing_verdicts', VERDICT_COLUMNS, PUBLISH, params, {
      lane: 'seal',
      token: `${this.number}`,
      about: params.apps,
    });
    const { dead, published } = await this.#verdict();
    if (dead > 0 || published === 0) throw new RunEnded();
    this.#isPublished = true;
  }

  /** Ends a run that did not publish: if it wrote rows, they are never read. */
  async end(): Promise<void> {
    if (this.#isPublished) return;
    await endRun(this.#db, this.number, this.#hasBegun ? 'dead' : 'void', this.#apps);
  }

  #verdict() {
    return this.#db.queryOne(VERDICT, { kind: this.#kind, apps: this.#apps, run: this.number }, SEAL);
  }
}

function endRun(db: Database, run: number, verdict: 'dead' | 'void', apps: readonly string[]): Promise<void> {
  const options = { lane: 'seal', token: `${run}`, about: apps } as const;
  return db.insertFrom('sealing_verdicts', VERDICT_COLUMNS, END, { run, verdict }, options);
}

const FORGET_RUNS = `DELETE FROM sealing_runs
WHERE opened_at < now64(3) - INTERVAL 1 DAY AND run IN (SELECT run FROM sealing_verdicts)`;
const FORGET_STEPS = `DELETE FROM sealing_verdicts
WHERE verdict != 'dead' AND run NOT IN (SELECT run FROM sealing_runs)
    AND (app_id, kind, step) NOT IN
        (SELECT app_id, kind, max(step) FROM sealing_verdicts WHERE verdict = 'published' GROUP BY app_id, kind)`;

const OUTDATED: Query<{ runs: number; steps: number }> = {
  name: 'seal: outdated runs',
  sql: `SELECT
    (SELECT toUInt32(count()) FROM sealing_runs
        WHERE opened_at < now64(3) - INTERVAL 1 DAY AND run IN (SELECT run FROM sealing_verdicts)) AS runs,
    (SELECT toUInt32(count()) FROM sealing_verdicts WHERE verdict != 'dead') AS steps`,
  row: z.object({ runs: z.number(), steps: z.number() }),
};
/** Fewer are not worth a deletion. */
const MANY = 10_000;

/** Forgets runs that ended long ago, and steps that later ones replaced. Those that are dead stay: their rows may still come. */
export async function forgetRuns(db: Database): Promise<void> {
  const { runs, steps } = await db.queryOne(OUTDATED, {}, SEAL);
  if (runs >= MANY) await db.command('seal: forget runs', FORGET_RUNS, {}, SEAL);
  if (steps >= MANY) await db.command('seal: forget steps', FORGET_STEPS, {}, SEAL);
}
