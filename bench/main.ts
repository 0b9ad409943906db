import { closeSync, openSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { misused, parsedArguments } from '../src/cli/arguments.ts';
import { CliError, sayEnd } from '../src/cli/cli-error.ts';
import { makeFolder } from '../src/make-folder.ts';

const USAGE = `Usage: npm run bench -- queries|scale|http|pollers|ingest|overload|soak [--events N] [--days D] [--runs R] [--dir DIR] [--seconds S] [--minutes M] [--json FILE]

queries   every question on N events of D days, beside the raw exact answers (30000000, 30)
scale     the same range with a tenth of the traffic, and ten times the range with the same traffic
http      304s and cached answers beside a bare route, and 200 keys that poll, for S seconds each (10)
pollers   ten keys that poll every 30 s, and the same that poll every second, for 3 minutes
ingest    batches of 1, 20 and 500 events over HTTP, each for S seconds (10), and the import of a file
overload  twice the load that can be answered, for S seconds (30 is good): throughput, fairness, health, recovery
soak      polling, questions and ingestion for M minutes (10): memory, open files and latency, and their slopes`;

const DEFAULT_DIR = fileURLToPath(new URL('../.cache/bench', import.meta.url));

const OPTIONS = {
  events: { type: 'string', default: '30000000' },
  days: { type: 'string', default: '30' },
  runs: { type: 'string', default: '30' },
  dir: { type: 'string', default: DEFAULT_DIR },
  seconds: { type: 'string', default: '10' },
  minutes: { type: 'string', default: '10' },
  json: { type: 'string' },
} as const;

interface Outcome {
  readonly records: readonly object[];
  /** True if every answer was equal to the raw one. */
  readonly exact: boolean;
}

/** Returns the chosen bench, ready to run. Throws CliError for invalid arguments. */
function readArguments(): { readonly run: () => Promise<Outcome>; readonly json: string | null } {
  const { values, positionals } = parsedArguments(process.argv.slice(2), OPTIONS, USAGE, 1);
  const whole = (name: 'events' | 'days' | 'runs' | 'seconds' | 'minutes', least = 1): number => {
    const value = Number(values[name]);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw misused(`--${name} is a whole number from ${least} on, not ${values[name]}.`, USAGE);
  };
  // The questions' ranges skip two days at the beginning and one at the end.
  const shape = { events: whole('events'), days: whole('days', 4) };
  const [runs, seconds, minutes] = [whole('runs'), whole('seconds'), whole('minutes')];
  // Each bench is loaded when it runs, so that the usage is printed at once.
  const benches: Readonly<Record<string, () => Promise<Outcome>>> = {
    queries: async () => (await import('./queries.ts')).benchQueries(folder(values.dir), shape, runs),
    scale: async () =>
      (await import('./scale.ts')).benchScale(folder(values.dir), shape.events, shape.days, runs),
    http: async () => (await import('./http.ts')).benchHttp(seconds),
    pollers: async () => (await import('./pollers.ts')).benchPollers(),
    ingest: async () => (await import('./ingest.ts')).benchIngest(seconds),
    overload: async () => (await import('./overload.ts')).benchOverload(seconds),
    soak: async () => (await import('./soak.ts')).benchSoak(minutes),
  };
  const [name = ''] = positionals;
  const run = Object.hasOwn(benches, name) ? benches[name] : undefined;
  if (run === undefined) throw misused(name === '' ? 'Name a bench.' : `There is no bench "${name}".`, USAGE);
  return { run, json: values.json === undefined ? null : jsonFile(values.json) };
}

function folder(path: string): string {
  const dir = resolve(path);
  try {
    makeFolder(dir);
  } catch (error) {
    throw misused(`--dir: ${error instanceof Error ? error.message : String(error)}.`, USAGE);
  }
  return dir;
}

/** Returns a path for the figures. Throws now if it cannot be written, not after an hour. */
function jsonFile(path: string): string {
  const file = resolve(path);
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw misused(`--json: ${error instanceof Error ? error.message : String(error)}.`, USAGE);
  }
  return file;
}

async function main(): Promise<void> {
  const { run, json } = readArguments();
  const { records, exact } = await run();
  if (json !== null) writeFileSync(json, `${JSON.stringify(records, null, 2)}\n`);
  if (!exact) process.exitCode = 1;
}

main().catch((error: unknown) => {
  // A failed bench should show its stack.
  if (!(error instanceof CliError)) throw error;
  sayEnd(error);
});
