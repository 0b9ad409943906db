import { isDeepStrictEqual } from 'node:util';
import type { Analytics } from '../src/analytics/answers/results.ts';
import type { Database, StatementStats } from '../src/clickhouse/database.ts';
import type { Case } from './cases.ts';
import { type Reads, statementsOf } from './reads.ts';
import type { Recording } from './recording.ts';
import { timed } from './statistics.ts';

/** All measurements of one case. */
export interface Measured {
  readonly case: Case;
  /**
   * In a process that is asked all questions in turn. The ends of a range that moves lie at new milliseconds
   * each time.
   */
  readonly ms: number[];
  readonly cpuMs: number[];
  /** With empty caches. */
  readonly firstMs: number[];
  readonly rawMs: number[];
  readonly rawCpuMs: number[];
  /** Milliseconds of each statement of a first run, by its name and place in the run. */
  readonly statements: Map<string, number[]>;
  reads: Reads;
  equal: boolean;
}

export interface MeasuredLive extends Measured {
  /** Just after events arrived; null if the range ends before them. */
  readonly liveMs: readonly number[] | null;
  /** While events are being stored all the time. */
  readonly storingMs: readonly number[] | null;
  /** Like `liveMs`, where some of them are late. */
  readonly lateMs: readonly number[] | null;
}

export interface MeasureDeps {
  readonly db: Database;
  /** With caches. */
  readonly polled: Analytics;
  readonly fresh: Analytics;
  /** Empties the caches of `fresh`. */
  readonly forget: () => void;
  readonly raw: Analytics;
  readonly countReads: (statements: Awaited<ReturnType<typeof statementsOf>>) => Promise<Reads>;
  /** Returns the statements that have ended since the last call. */
  readonly takeStatements: () => StatementStats[];
  readonly recording: Recording;
}

/**
 * Runs every case `runs` times, case after case in each round, so that a busy moment of the machine affects
 * all cases alike. Each case runs in the polled process, then as a first question. The raw question is asked
 * `rawRuns` times: before the first round, and in some of the rounds. Each time the answers are compared. Returns early,
 * with what was measured, after an interrupt.
 */
export async function measure(
  deps: MeasureDeps,
  cases: readonly Case[],
  runs: number,
  rawRuns: number,
): Promise<Measured[]> {
  const { recording } = deps;
  const { progress } = recording;
  const measured: Measured[] = [];
  progress.begin('queries, warming up', cases.length);
  for (const entry of cases) {
    if (recording.stopping) return measured;
    progress.step(`${entry.endpoint}, ${entry.range}`);
    measured.push(await warmUp(deps, entry));
  }
  progress.begin('queries', runs);
  for (let round = 0; round < runs; round++) {
    const movedMs = ASKED_MS.length + round;
    const rawsAt = (after: number) => Math.floor((after * (rawRuns - 1)) / runs);
    const withRaw = rawsAt(round) < rawsAt(round + 1);
    progress.step(withRaw ? 'round with raw' : 'round');
    for (const entry of measured) {
      if (recording.stopping) return measured;
      await polledRun(deps, entry, movedMs);
    }
    for (const entry of measured) {
      if (recording.stopping) return measured;
      await firstRun(deps, entry);
      if (withRaw) await rawRun(deps, entry, movedMs);
    }
  }
  return measured;
}

/** Moves of the ends before the measurement, in ms. All caches are filled then. */
const ASKED_MS = [0, 1, 2, 3, 4, 5, 6];

/**
 * Fills the store's and the process's caches, records the reads, and asks the raw question for the first
 * time.
 */
async function warmUp(deps: MeasureDeps, entry: Case): Promise<Measured> {
  const { db, polled, fresh, forget, countReads } = deps;
  forget();
  const statements = await statementsOf(db, () => entry.ask(fresh));
  const reads = await countReads(statements);
  for (const ms of ASKED_MS) await entry.ask(polled, ms);
  const measured = {
    case: entry,
    ms: [],
    cpuMs: [],
    firstMs: [],
    rawMs: [],
    rawCpuMs: [],
    statements: new Map(),
    reads,
    equal: true,
  };
  await rawRun(deps, measured, 0);
  return measured;
}

async function firstRun(
  { fresh, forget, takeStatements }: MeasureDeps,
  { case: entry, firstMs, statements }: Measured,
): Promise<void> {
  forget();
  takeStatements();
  firstMs.push((await timed(() => entry.ask(fresh))).ms);
  const times = new Map<string, number>();
  for (const { name, ms: took } of takeStatements()) {
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    const key = nth === 1 ? name : `${name} (${nth})`;
    statements.set(key, [...(statements.get(key) ?? []), took]);
  }
}

async function polledRun({ polled }: MeasureDeps, entry: Measured, movedMs: number): Promise<void> {
  const { ms, cpuMs } = await timed(() => entry.case.ask(polled, movedMs));
  entry.ms.push(ms);
  entry.cpuMs.push(cpuMs);
}

/**
 * Compares the raw answer with those of a process with empty caches, of the same process asked again, and of
 * a polled process.
 */
async function rawRun(
  { raw, fresh, polled, forget }: MeasureDeps,
  entry: Measured,
  movedMs: number,
): Promise<void> {
  const ask = (analytics: Analytics) => entry.case.ask(analytics, movedMs);
  const { ms, cpuMs, result } = await timed(() => ask(raw));
  entry.rawMs.push(ms);
  entry.rawCpuMs.push(cpuMs);
  // These runs are not measured: the raw question has just filled the store's caches with other data.
  forget();
  for (const analytics of [fresh, fresh, polled]) {
    entry.equal &&= isDeepStrictEqual(await ask(analytics), result);
  }
}
