import { closeSync, openSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BenchOptions } from '../src/cli/bench-command.ts';
import { CliError } from '../src/cli/cli-error.ts';
import { makeFolder } from '../src/make-folder.ts';

interface Outcome {
  readonly records: readonly object[];
  /** True if every answer was equal to the raw one. */
  readonly exact: boolean;
}

type Bench = (options: BenchOptions) => Promise<Outcome>;

/** Each bench is loaded when it runs. */
const BENCHES: Readonly<Record<string, Bench>> = {
  queries: async ({ dir, events, days, runs }) =>
    (await import('./queries.ts')).benchQueries(folder(dir), { events, days }, runs),
  scale: async ({ dir, events, days, runs }) =>
    (await import('./scale.ts')).benchScale(folder(dir), events, days, runs),
  http: async ({ seconds }) => (await import('./http.ts')).benchHttp(seconds),
  pollers: async () => (await import('./pollers.ts')).benchPollers(),
  ingest: async ({ seconds }) => (await import('./ingest.ts')).benchIngest(seconds),
  overload: async ({ seconds }) => (await import('./overload.ts')).benchOverload(seconds),
  soak: async ({ minutes }) => (await import('./soak.ts')).benchSoak(minutes),
};

function folder(path: string): string {
  const dir = resolve(path);
  try {
    makeFolder(dir);
  } catch (error) {
    throw new CliError(`--dir: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return dir;
}

/** Returns a path for the figures. Throws now if it cannot be written, not after an hour. */
function jsonFile(path: string): string {
  const file = resolve(path);
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new CliError(`--json: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return file;
}

/** Runs a bench. Exit code 1 if an answer differed from the raw one. Throws CliError for invalid arguments. */
export async function bench(name: string, options: BenchOptions): Promise<void> {
  const run = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (run === undefined) {
    throw new CliError(`There is no bench "${name}": say one of ${Object.keys(BENCHES).join(', ')}.`);
  }
  const json = options.json === undefined ? null : jsonFile(options.json);
  const { records, exact } = await run(options);
  if (json !== null) writeFileSync(json, `${JSON.stringify(records, null, 2)}\n`);
  if (!exact) process.exitCode = 1;
}
