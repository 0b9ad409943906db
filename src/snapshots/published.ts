import { int, ofApp } from '../clickhouse/literals.ts';
import { join, type Sql, sql } from '../clickhouse/sql.ts';
import type { FactKind } from '../domain/fact-kinds.ts';
import type { AppId } from '../domain/ids.ts';
import { type EpochMs, epochMs } from '../domain/time.ts';

/** The published state of an app's facts of one kind (see runs.ts). */
export interface Published {
  readonly until: EpochMs;
  /** Grows with each publication: the same step means the same facts below `until`. */
  readonly step: number;
  /** While it is unchanged, no rows that this state refers to are deleted. */
  readonly era: number;
  /** Changes when all facts are dropped to be built again. */
  readonly rebuilt: number;
  /**
   * The horizon: raw rows from before it are not read. A whole UTC day, 0 for an app that keeps everything. It
   * never moves back, and is not later than `until`.
   */
  readonly horizon: EpochMs;
  /** Runs whose rows are ignored. */
  readonly dead: readonly number[];
}
export type PublishedFacts = { readonly [Kind in FactKind]: Published };

/** Takes a row of `publishedRows` apart. */
export const publishedOf = ([
  step = 0,
  until = 0,
  era = 0,
  rebuilt = 0,
  horizon = 0,
  ...dead
]: readonly number[] = []): Published => ({
  step,
  until: epochMs(until),
  era,
  rebuilt,
  horizon: epochMs(horizon),
  dead,
});
export const isSame = (a: Published, b: Published): boolean =>
  a.step === b.step && a.dead.length === b.dead.length;

/**
 * SQL of a row (kind, numbers) for each kind: the state with the highest step, and the dead runs. Of a run's verdicts, `max`
 * keeps a dead run dead. States are compared as arrays, because each further function takes the engine time to plan.
 */
export const publishedRows = (
  app: AppId,
): Sql => sql`SELECT toString(kind), arrayConcat(arrayResize(maxIf(state, verdict = 'published'), 5), groupArrayIf(toInt64(run), verdict = 'dead'))
FROM
(
    SELECT kind, run, max(verdict) AS verdict, max([toInt64(v.step), v.sealed_until, toInt64(v.era), toInt64(v.rebuilt), v.horizon]) AS state
    FROM sealing_verdicts AS v WHERE ${ofApp(app)} AND v.verdict != 'void' GROUP BY kind, run
) GROUP BY kind`;

/** SQL condition that leaves out rows of dead runs; usually there are none. */
export const without = (run: Sql, dead: readonly number[]): Sql =>
  dead.length === 0 ? sql`` : sql` AND ${run} NOT IN (${join(dead.map(int))})`;
