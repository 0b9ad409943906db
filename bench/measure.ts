import { isDeepStrictEqual } from 'node:util';
import type { Analytics } from '../src/analytics/results.ts';
import type { Database, StatementStats } from '../src/clickhouse/database.ts';
import type { Case } from './cases.ts';
import { type Reads, statementsOf } from './reads.ts';
import { timed } from './statistics.ts';

/** Everything seen of one case. */
export interface Measured {
  readonly case: Case;
  /** In a process that is asked all of the questions in turn; ends of a range that moves lie at milliseconds that nobody asked for. */
  readonly ms: number[];
  readonly cpuMs: number[];
  /** With nothing remembered. */
  readonly firstMs: number[];
  readonly rawMs: number[];
  readonly rawCpuMs: number[];
  /** Milliseconds of each statement that a first run consists of, by its name and place in the run. */
  readonly statements: Map<string, number[]>;
  reads: Reads;
  equal: boolean;
}

export interface MeasuredLive extends Measured {
  /** A second after events came in; null where the range ends before. */
  readonly liveMs: readonly number[] | null;
}

export interface MeasureDeps {
  readonly db: Database;
  /** Remembers what it can. */
  readonly polled: Analytics;
  readonly fresh: Analytics;
  /** Makes `fresh` forget everything. */
  readonly forget: () => void;
  readonly raw: Analytics;
  readonly countReads: (statements: Awaited<ReturnType<typeof statementsOf>>) => Promise<Reads>;
  /** Hands out the statements that ended since it was last called. */
  readonly takeStatements: () => StatementStats[];
  readonly onProgress: (line: string) => void;
}

/**
 * Runs every case `runs` times, case after case in each round, so that a busy moment of the machine hits all of them
 * alike: in the process that is polled, then as the first question. The raw question is asked `rawRuns` times: before the first
 * round, and in some of them; each time the answers are compared.
 */
export async function measure(
  deps: MeasureDeps,
  cases: readonly Case[],
  runs: number,
  rawRuns: number,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const entry of cases) {
    deps.onProgress(`warming up: ${entry.endpoint}, ${entry.range}`);
    measured.push(await warmUp(deps, entry));
  }
  for (let round = 0; round < runs; round++) {
    const movedMs = ASKED_MS.length + round;
    const rawsAt = (after: number) => Math.floor((after * (rawRuns - 1)) / runs);
    const withRaw = rawsAt(round) < rawsAt(round + 1);
    deps.onProgress(`round ${round + 1} of ${runs}${withRaw ? ', with raw' : ''}`);
    for (const entry of measured) await polledRun(deps, entry, movedMs);
    for (const entry of measured) {
      await firstRun(deps, entry);
      if (withRaw) await rawRun(deps, entry, movedMs);
    }
  }
  return measured;
}

/** By how many ms the ends are moved before anything is measured: then all is remembered that can be. */
const ASKED_MS = [0, 1, 2, 3];

/** Fills the store's caches and the memory, notes what is read, and asks the raw question for the first time. */
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

/** Compares the raw answer with those of a process that knows nothing, one that was asked already, and one that is polled. */
async function rawRun(
  { raw, fresh, polled, forget }: MeasureDeps,
  entry: Measured,
  movedMs: number,
): Promise<void> {
  const ask = (analytics: Analytics) => entry.case.ask(analytics, movedMs);
  const { ms, cpuMs, result } = await timed(() => ask(raw));
  entry.rawMs.push(ms);
  entry.rawCpuMs.push(cpuMs);
  // These runs are not counted: they come after one that pushed other data through the caches.
  forget();
  for (const analytics of [fresh, fresh, polled]) {
    entry.equal &&= isDeepStrictEqual(await ask(analytics), result);
  }
}
