import { createAnalytics } from '../src/analytics/analytics.ts';
import type { StatementStats } from '../src/clickhouse/database.ts';
import { readConfig } from '../src/config.ts';
import { Memory } from '../src/facts/memory.ts';
import { casesOf } from './cases.ts';
import { type Live, measureLive } from './live.ts';
import { type Measured, type MeasuredLive, measure } from './measure.ts';
import { progress } from './progress.ts';
import { createRawAnalytics } from './raw/analytics.ts';
import { openReadCounter } from './reads.ts';
import { printResults, printSealing, printStatements, printStorage } from './report.ts';
import { rollupsAreExact } from './rollups.ts';
import { NOW, type Shape } from './shape.ts';
import { median, percentile, rounded } from './statistics.ts';
import { storage, storageByTable } from './storage.ts';
import { openBenchStore } from './store.ts';

/** One line of the JSON file. */
interface QueryRecord {
  readonly endpoint: string;
  readonly range: string;
  readonly events: number;
  readonly days: number;
  /**
   * From the store, after questions about the same hours. The movable ends lie at new milliseconds each time.
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** With empty caches. */
  readonly firstP50Ms: number;
  readonly firstP99Ms: number;
  /** A second after events arrived; null if the range ends before them. */
  readonly liveP50Ms: number | null;
  readonly liveP99Ms: number | null;
  /** The same where one event in a hundred is an hour to ten days late, and the sealing job runs. */
  readonly lateP50Ms: number | null;
  readonly lateP99Ms: number | null;
  readonly rawP50Ms: number;
  /** rawP50Ms / p50Ms */
  readonly ratio: number;
  /** rawP50Ms / firstP50Ms */
  readonly firstRatio: number;
  readonly equalToRaw: boolean;
  /** The median of the milliseconds of all threads together. */
  readonly cpuMs: number;
  readonly rawCpuMs: number;
  readonly statements: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

const MIN_RAW_RUNS = 3;

/** Asks every question and range on one data set, beside the raw exact questions. */
export async function benchQueries(
  dir: string,
  shape: Shape,
  runs: number,
): Promise<{ readonly records: QueryRecord[]; readonly exact: boolean }> {
  let statements: StatementStats[] = [];
  const { db, location, manifest } = await openBenchStore(dir, shape, (stats) => statements.push(stats));
  const clock = () => NOW;
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
        polled: createAnalytics({ db, clock, memory: new Memory(factsCacheBytes) }),
        fresh: createAnalytics({ db, clock, memory }),
        forget: () => {
          memory.clear();
        },
        raw: createRawAnalytics({ db, clock }),
        countReads: counter.count,
        takeStatements: () => {
          const taken = statements;
          statements = [];
          return taken;
        },
        onProgress: progress,
      },
      casesOf(shape),
      runs,
      Math.min(runs, Math.max(MIN_RAW_RUNS, Math.ceil(runs / 10))),
    );
    progress(null);
    printStorage(await storage(db), await storageByTable(db));
  } finally {
    await counter.close();
    await db.close();
  }
  const live = await measureLive(location.dataDir, casesOf(shape), runs, factsCacheBytes);
  const seen = measured.map((entry) => withLive(entry, live));
  printResults(seen);
  printStatements(measured);
  printSealing(manifest);
  const records = seen.map((entry) => recordOf(entry, shape));
  const wrong = records.filter(({ equalToRaw }) => !equalToRaw);
  for (const { endpoint, range } of wrong) console.log(`WRONG: ${endpoint}, ${range}: not the raw answer`);
  if (!rollups) console.log('WRONG: traffic or ledger do not hold what events holds');
  return { records, exact: rollups && wrong.length === 0 };
}

const withLive = (measured: Measured, live: readonly Live[]): MeasuredLive => {
  const { endpoint, range } = measured.case;
  const own = live.find(({ case: other }) => other.endpoint === endpoint && other.range === range);
  return {
    ...measured,
    liveMs: own?.ms ?? null,
    lateMs: own?.lateMs ?? null,
    equal: measured.equal && own?.equal !== false,
  };
};

function recordOf(
  { case: { endpoint, range }, ms, firstMs, rawMs, liveMs, lateMs, equal, ...entry }: MeasuredLive,
  shape: Shape,
): QueryRecord {
  const p50Ms = median(ms);
  const firstP50Ms = median(firstMs);
  const rawP50Ms = median(rawMs);
  return {
    endpoint,
    range,
    events: shape.events,
    days: shape.days,
    p50Ms: rounded(p50Ms),
    p99Ms: rounded(percentile(ms, 0.99)),
    firstP50Ms: rounded(firstP50Ms),
    firstP99Ms: rounded(percentile(firstMs, 0.99)),
    liveP50Ms: liveMs && rounded(median(liveMs)),
    liveP99Ms: liveMs && rounded(percentile(liveMs, 0.99)),
    lateP50Ms: lateMs && rounded(median(lateMs)),
    lateP99Ms: lateMs && rounded(percentile(lateMs, 0.99)),
    rawP50Ms: rounded(rawP50Ms),
    ratio: rounded(rawP50Ms / p50Ms),
    firstRatio: rounded(rawP50Ms / firstP50Ms),
    equalToRaw: equal,
    cpuMs: rounded(median(entry.cpuMs)),
    rawCpuMs: rounded(median(entry.rawCpuMs)),
    statements: entry.statements.size,
    rowsRead: entry.reads.rows,
    bytesRead: entry.reads.bytes,
  };
}
