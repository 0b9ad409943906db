import { createAnalytics } from '../src/analytics/analytics.ts';
import type { StatementStats } from '../src/clickhouse/database.ts';
import { LiveCache } from '../src/facts/live-sessions.ts';
import { SealedCache } from '../src/facts/sealed-cache.ts';
import { casesOf } from './cases.ts';
import { type Measured, measure } from './measure.ts';
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
  /** With nothing remembered of sealed facts: through the store. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Asked again. */
  readonly againP50Ms: number;
  readonly againP99Ms: number;
  /** Ends moved by milliseconds, within hours that were asked for; null where they do not move. */
  readonly movedP50Ms: number | null;
  readonly movedP99Ms: number | null;
  readonly rawP50Ms: number;
  /** rawP50Ms / p50Ms */
  readonly ratio: number;
  readonly equalToRaw: boolean;
  /** Median milliseconds of all threads together. */
  readonly cpuMs: number;
  readonly rawCpuMs: number;
  readonly statements: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

const MIN_RAW_RUNS = 3;

/** Every question and range on one data set, beside the raw exact answers. */
export async function benchQueries(
  dir: string,
  shape: Shape,
  runs: number,
): Promise<{ readonly records: QueryRecord[]; readonly exact: boolean }> {
  let statements: StatementStats[] = [];
  const { db, location, manifest } = await openBenchStore(dir, shape, (stats) => statements.push(stats));
  const clock = () => NOW;
  const sealed = new SealedCache();
  const live = new LiveCache();
  const counter = await openReadCounter(location);
  try {
    const rollups = await rollupsAreExact(db);
    const measured = await measure(
      {
        db,
        analytics: createAnalytics({ db, clock, sealed, live }),
        forget: () => {
          sealed.clear();
          live.clear();
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
    const records = measured.map((entry) => recordOf(entry, shape));
    printResults(measured);
    printStatements(measured);
    printStorage(await storage(db), await storageByTable(db));
    printSealing(manifest);
    const wrong = records.filter(({ equalToRaw }) => !equalToRaw);
    for (const { endpoint, range } of wrong) console.log(`WRONG: ${endpoint}, ${range}: not the raw answer`);
    if (!rollups) console.log('WRONG: traffic or ledger do not hold what events holds');
    return { records, exact: rollups && wrong.length === 0 };
  } finally {
    await counter.close();
    await db.close();
  }
}

function recordOf(
  { case: { endpoint, range, moves }, ms, rawMs, equal, ...entry }: Measured,
  shape: Shape,
): QueryRecord {
  const p50Ms = median(ms);
  const rawP50Ms = median(rawMs);
  return {
    endpoint,
    range,
    events: shape.events,
    days: shape.days,
    p50Ms: rounded(p50Ms),
    p99Ms: rounded(percentile(ms, 0.99)),
    againP50Ms: rounded(median(entry.againMs)),
    againP99Ms: rounded(percentile(entry.againMs, 0.99)),
    movedP50Ms: moves ? rounded(median(entry.movedMs)) : null,
    movedP99Ms: moves ? rounded(percentile(entry.movedMs, 0.99)) : null,
    rawP50Ms: rounded(rawP50Ms),
    ratio: rounded(rawP50Ms / p50Ms),
    equalToRaw: equal,
    cpuMs: rounded(median(entry.cpuMs)),
    rawCpuMs: rounded(median(entry.rawCpuMs)),
    statements: entry.statements.size,
    rowsRead: entry.reads.rows,
    bytesRead: entry.reads.bytes,
  };
}
