import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchHttp } from './http.ts';
import { benchIngest } from './ingest.ts';
import { benchOverload } from './overload.ts';
import { benchQueries } from './queries.ts';
import { benchScale } from './scale.ts';
import { benchSoak } from './soak.ts';
import { DEFAULT_DIR } from './store.ts';

const USAGE = `npm run bench -- queries|scale|http|ingest|overload|soak [--events N] [--days D] [--runs R] [--dir DIR] [--seconds S] [--minutes M] [--json FILE]

queries  every question on N events of D days, beside the raw exact answers (30000000, 30)
scale    the same range with a tenth of the traffic, and ten times the range with the same traffic
http     304s and kept answers beside a bare route, and 200 keys that poll, for S seconds each (10)
ingest   batches of 1, 20 and 500 events over HTTP, each for S seconds (10), and the import of a file
overload twice of what is answered, for S seconds (30 is good): throughput, fairness, health, recovery
soak     polling, questions and ingestion for M minutes (10): memory, open files and latency, and their slopes`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '30000000' },
    days: { type: 'string', default: '30' },
    runs: { type: 'string', default: '30' },
    dir: { type: 'string', default: DEFAULT_DIR },
    seconds: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
});

function positive(name: 'events' | 'days' | 'runs' | 'seconds' | 'minutes'): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name}: a positive integer, not ${values[name]}`);
  return value;
}

interface Outcome {
  readonly records: readonly object[];
  /** Every answer was the raw one. */
  readonly exact: boolean;
}

async function run(name: string | undefined): Promise<Outcome | null> {
  const dir = resolve(values.dir);
  const [events, days, runs] = [positive('events'), positive('days'), positive('runs')];
  if (name === 'queries') return benchQueries(dir, { events, days }, runs);
  if (name === 'http') return benchHttp(positive('seconds'));
  if (name === 'ingest') return benchIngest(positive('seconds'));
  if (name === 'overload') return benchOverload(positive('seconds'));
  if (name === 'soak') return benchSoak(positive('minutes'));
  if (name === 'scale') return benchScale(dir, events, days, runs);
  return null;
}

const outcome = await run(positionals[0]);
if (outcome === null) console.error(USAGE);
else if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify(outcome.records, null, 2)}\n`);
}
if (!outcome?.exact) process.exitCode = 1;
