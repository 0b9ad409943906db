import { isDeepStrictEqual } from 'node:util';
import type { Analytics } from '../src/analytics/results.ts';
import type { Database, StatementStats } from '../src/clickhouse/database.ts';
import type { Case } from './cases.ts';
import { type Reads, statementsOf } from './reads.ts';
import { timed } from './statistics.ts';

/** Everything seen of one case. */
export interface Measured {
  readonly case: Case;
  /** After questions about the same hours, with ends of the range (where they move) at milliseconds that nobody asked for. */
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
  readonly analytics: Analytics;
  readonly raw: Analytics;
  /** Makes `analytics` forget everything. */
  readonly forget: () => void;
  readonly countReads: (statements: Awaited<ReturnType<typeof statementsOf>>) => Promise<Reads>;
  /** Hands out the statements that ended since it was last called. */
  readonly takeStatements: () => StatementStats[];
  readonly onProgress: (line: string) => void;
}

/**
 * Runs every case `runs` times, case after case in each round, so that a busy moment of the machine hits all of them
 * alike. The raw question is asked `rawRuns` times: before the first round, and in some of them; each time both answers are
 * compared.
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
    measured.push(await firstRun(deps, entry));
  }
  for (let round = 0; round < runs; round++) {
    const rawsAt = (after: number) => Math.floor((after * (rawRuns - 1)) / runs);
    const withRaw = rawsAt(round) < rawsAt(round + 1);
    deps.onProgress(`round ${round + 1} of ${runs}${withRaw ? ', with raw' : ''}`);
    for (const entry of measured) {
      await warmRun(deps, entry);
      if (withRaw) await rawRun(deps, entry);
    }
  }
  return measured;
}

/** Fills the store's caches, notes what is read, and asks the raw question for the first time. */
async function firstRun(deps: MeasureDeps, entry: Case): Promise<Measured> {
  const { db, analytics, forget, countReads } = deps;
  forget();
  const statements = await statementsOf(db, () => entry.ask(analytics));
  const reads = await countReads(statements);
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
  await rawRun(deps, measured);
  if (entry.moves) await movedRawRun(deps, measured);
  return measured;
}

async function warmRun(
  { analytics, forget, takeStatements }: MeasureDeps,
  { case: entry, ...seen }: Measured,
): Promise<void> {
  forget();
  takeStatements();
  seen.firstMs.push((await timed(() => entry.ask(analytics))).ms);
  const times = new Map<string, number>();
  for (const { name, ms: took } of takeStatements()) {
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    const key = nth === 1 ? name : `${name} (${nth})`;
    seen.statements.set(key, [...(seen.statements.get(key) ?? []), took]);
  }
  await askAround(analytics, entry);
  const { ms, cpuMs } = await timed(() => entry.ask(analytics, MEASURED_MS));
  seen.ms.push(ms);
  seen.cpuMs.push(cpuMs);
}

/** By how many ms the ends are moved until everything is remembered that can be, and in the question that is measured then. */
const ASKED_MS = [1, 2, 3];
const MEASURED_MS = 4;

async function askAround(analytics: Analytics, entry: Case): Promise<void> {
  for (const ms of ASKED_MS) await entry.ask(analytics, ms);
}

async function movedRawRun({ analytics, raw }: MeasureDeps, entry: Measured): Promise<void> {
  await askAround(analytics, entry.case);
  const answer = await entry.case.ask(analytics, MEASURED_MS);
  entry.equal &&= isDeepStrictEqual(answer, await entry.case.ask(raw, MEASURED_MS));
}

async function rawRun({ analytics, raw, forget }: MeasureDeps, entry: Measured): Promise<void> {
  const { ms, cpuMs, result } = await timed(() => entry.case.ask(raw));
  entry.rawMs.push(ms);
  entry.rawCpuMs.push(cpuMs);
  // These runs are not counted: they come after one that pushed other data through the caches.
  forget();
  for (let run = 0; run < 3; run++) {
    entry.equal &&= isDeepStrictEqual(await entry.case.ask(analytics), result);
  }
}
