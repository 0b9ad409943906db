import { Memory } from '../src/analytics/memory/memory.ts';
import type { StatementStats } from '../src/clickhouse/database.ts';
import { readConfig } from '../src/config.ts';
import { casesOf } from './cases.ts';
import { type Live, MERGES_MS, measureLive } from './live.ts';
import { type Measured, type MeasuredLive, measure } from './measure.ts';
import { printResults, printSealing, printStatements, printStorage } from './print-queries.ts';
import { createRawAnalytics } from './raw/analytics.ts';
import { openReadCounter } from './reads.ts';
import type { Recording } from './recording.ts';
import type { Case } from './result/schema.ts';
import { rollupsAreExact } from './rollups.ts';
import type { Shape } from './shape.ts';
import { COMPARABLE_RUNS } from './statistics.ts';
import { steadyAnalytics } from './steady-analytics.ts';
import { storage, storageByTable } from './storage.ts';
import { openBenchStore } from './store.ts';
import { measureUsualWays } from './usual/ways.ts';

/** Asks every question and range on one data set, beside the raw exact questions and the usual ways. */
export async function benchQueries(
  recording: Recording,
  dir: string,
  shape: Shape,
  { runs, pauseMs = MERGES_MS }: { readonly runs: number; readonly pauseMs?: number },
): Promise<void> {
  let statements: StatementStats[] = [];
  const { progress } = recording;
  const { db, location, manifest } = await openBenchStore(recording, dir, shape, (stats) =>
    statements.push(stats),
  );
  const { factsCacheBytes } = readConfig({});
  const memory = new Memory(factsCacheBytes);
  const counter = await openReadCounter(location);
  let measured: Measured[];
  let rollups: boolean;
  try {
    rollups = await rollupsAreExact(db);
    measured = await measure(
      {
        db,
        polled: steadyAnalytics({ db, memory: new Memory(factsCacheBytes) }),
        fresh: steadyAnalytics({ db, memory }),
        forget: () => {
          memory.clear();
        },
        raw: createRawAnalytics(db),
        countReads: counter.count,
        takeStatements: () => {
          const taken = statements;
          statements = [];
          return taken;
        },
        recording,
      },
      casesOf(shape),
      runs,
      Math.min(runs, Math.max(COMPARABLE_RUNS, Math.ceil(runs / 10))),
    );
    await measureUsualWays(recording, db, { shape, runs, measured });
    progress.end();
    printStorage(await storage(db), await storageByTable(db));
  } finally {
    await counter.close();
    await db.close();
  }
  const live = recording.stopping
    ? []
    : await measureLive(recording, location.dataDir, casesOf(shape), { runs, pauseMs, factsCacheBytes });
  progress.end();
  const seen = measured.map((entry) => withLive(entry, live));
  for (const entry of seen) recordCase(recording, entry, { shape, pauseMs, exact: entry.equal && rollups });
  printResults(seen);
  printStatements(measured);
  printSealing(manifest);
  if (!rollups) console.log('WRONG: traffic or ledger do not hold what events holds');
}

const withLive = (measured: Measured, live: readonly Live[]): MeasuredLive => {
  const { endpoint, range } = measured.case;
  const own = live.find(({ case: other }) => other.endpoint === endpoint && other.range === range);
  return {
    ...measured,
    liveMs: own?.ms ?? null,
    storingMs: own?.storingMs ?? null,
    lateMs: own?.lateMs ?? null,
    equal: measured.equal && own?.equal !== false,
  };
};

function recordCase(
  recording: Recording,
  { case: { endpoint, range, moves }, reads, ...entry }: MeasuredLive,
  { shape, pauseMs, exact }: { readonly shape: Shape; readonly pauseMs: number; readonly exact: boolean },
): void {
  const name = `${endpoint}, ${range}`;
  const labels = { endpoint, range, ...shape };
  const add = (measure: string, runs: readonly number[] | null, more: Partial<Case> = {}): void =>
    recording.record({
      bench: 'queries',
      name,
      measure,
      unit: 'ms',
      labels,
      runs: [...(runs ?? [])],
      ...more,
    });
  // The same range again, and nothing new: what the answer needs is kept.
  const polled = moves ? 'polled' : 'kept';
  add(polled, entry.ms, { exact });
  add(`${polled}, cpu`, entry.cpuMs);
  add('first', entry.firstMs, { exact });
  add('live', entry.liveMs, { exact, labels: { ...labels, pauseMs } });
  add('storing', entry.storingMs, { exact, labels });
  add('late', entry.lateMs, { exact, labels: { ...labels, pauseMs } });
  add('raw', entry.rawMs, { ofService: false });
  add('raw, cpu', entry.rawCpuMs, { ofService: false });
  add('rows read', [reads.rows], { unit: 'rows' });
  add('bytes read', [reads.bytes], { unit: 'bytes' });
}
