import { resolve } from 'node:path';
import type { BenchName, BenchOptions } from '../src/cli/bench-command.ts';
import { CliError } from '../src/cli/cli-error.ts';
import { messageOf } from '../src/domain/thrown.ts';
import { makeFolder } from '../src/make-folder.ts';
import { checkAssertions, parseAssertion } from './assertions.ts';
import type { DeploymentBench } from './deployment/run.ts';
import { DEPLOYMENT_PRESETS, PRESETS, presetOf } from './presets.ts';
import { Recording } from './recording.ts';
import { writable } from './result/file.ts';
import { COMPARABLE_RUNS } from './statistics.ts';

export { compareFiles } from './compare.ts';

/** Makes the page of a file. */
export async function report(file: string, html: string): Promise<void> {
  (await import('./report/page.ts')).report(file, html);
}

type Bench = (recording: Recording, options: BenchOptions) => Promise<void>;

const EVENTS = 30_000_000;
const RUNS = 30;
const SECONDS = 10;
/** Each run of a question takes two of the requests that a key may send. */
const DEPLOYMENT_RUNS = 5;

/** The sizes of a bench that runs alone: those of a suite, but no case is longer than SECONDS. */
const sizes = (quick: boolean) =>
  quick ? PRESETS.quick : { ...PRESETS.full, ingestSeconds: SECONDS, overloadSeconds: SECONDS };

/** Each bench is loaded when it runs. */
const LOCAL: Readonly<Record<Exclude<BenchName, 'suite'>, Bench>> = {
  data: async (recording, { dir, events = EVENTS, days }) =>
    (await import('./data.ts')).benchData(recording, folder(dir), { events, days }),
  queries: async (recording, { dir, events = EVENTS, days, runs = RUNS }) =>
    (await import('./queries.ts')).benchQueries(recording, folder(dir), { events, days }, { runs }),
  scale: async (recording, { dir, events = EVENTS, days, runs = RUNS }) =>
    (await import('./scale.ts')).benchScale(recording, folder(dir), { events, days }, runs),
  http: async (recording, { quick = false, ...given }) => {
    const { seconds, ...extent } = { ...sizes(quick), ...given };
    await (await import('./http.ts')).benchHttp(recording, seconds, extent);
  },
  pollers: async (recording) => (await import('./pollers.ts')).benchPollers(recording),
  ingest: async (recording, { quick = false, ...given }) => {
    const { batches, ingestSeconds, importedEvents } = sizes(quick);
    const extent = { batches, importedEvents: given.events ?? importedEvents };
    await (await import('./ingest.ts')).benchIngest(recording, given.seconds ?? ingestSeconds, extent);
  },
  overload: async (recording, { quick = false, ...given }) => {
    const { overloadSeconds, overloadEvents } = sizes(quick);
    const { benchOverload } = await import('./overload.ts');
    await benchOverload(recording, given.seconds ?? overloadSeconds, given.events ?? overloadEvents);
  },
  apps: async (recording, options) => (await import('./apps.ts')).benchApps(recording, options),
  soak: async (recording, options) => (await import('./soak.ts')).benchSoak(recording, options),
};

function folder(path: string): string {
  const dir = resolve(path);
  try {
    makeFolder(dir);
  } catch (error) {
    throw new CliError(`--dir: ${messageOf(error)}.`);
  }
  return dir;
}

async function runAgainst(
  recording: Recording,
  name: BenchName,
  options: BenchOptions & { readonly url: string },
): Promise<void> {
  const { benchDeployment } = await import('./deployment/run.ts');
  const { url, key = [], rate = [] } = options;
  const common = { url, keys: key, rates: rate };
  if (name === 'suite') {
    const benches = ['data', 'queries', 'ingest', 'http'] as const;
    await benchDeployment(recording, { ...common, benches, ...DEPLOYMENT_PRESETS[presetOf(options)] });
    return;
  }
  const { events = 20_000, days = 30, runs = DEPLOYMENT_RUNS, seconds = SECONDS } = options;
  // The command line gives --url to these alone.
  const benches = [name as DeploymentBench];
  await benchDeployment(recording, { ...common, benches, events, days, runs, seconds });
}

/**
 * Runs a bench. Exit code 1 if an answer differed from the exact one or an assertion failed, 130 after an interrupt.
 * Throws CliError for invalid arguments.
 */
export async function bench(name: BenchName, options: BenchOptions, command: string): Promise<void> {
  if ((options.url === undefined) !== (options.key === undefined)) {
    throw new CliError(
      '--url and --key belong together: give the address of a running service, and an API key of it.',
    );
  }
  const assertions = (options.assert ?? []).map(parseAssertion);
  const recording = new Recording({
    command,
    target: options.url ?? null,
    json: options.json === undefined ? null : writable('--json', options.json),
    html: options.html === undefined ? null : writable('--html', options.html),
  });
  if (options.runs !== undefined && options.runs < COMPARABLE_RUNS) {
    recording.note(
      `With ${options.runs} run${options.runs === 1 ? '' : 's'} of each question, \`bench compare\` has no verdict on questions: it needs ${COMPARABLE_RUNS}.`,
    );
  }
  let complete = false;
  try {
    if (options.url !== undefined) await runAgainst(recording, name, { ...options, url: options.url });
    else if (name === 'suite')
      await (await import('./suite.ts')).runSuite(recording, folder(options.dir), options);
    else await LOCAL[name](recording, options);
    complete = !recording.stopping && !recording.failed;
  } catch (error) {
    // An interrupt makes that fail which waited for something.
    if (!recording.stopping) throw error;
  } finally {
    await recording.end(complete);
  }
  const wrong = recording.cases.filter(({ exact }) => exact === false);
  for (const { bench, name: asked, measure } of wrong) console.log(`WRONG: ${bench}: ${asked}, ${measure}`);
  const failed = checkAssertions(recording.cases, assertions);
  for (const line of failed) console.log(`FAILED: ${line}`);
  if (recording.stopping) process.exitCode = 130;
  else if (recording.failed || wrong.length + failed.length > 0) process.exitCode = 1;
}
