import { resolve } from 'node:path';
import type { BenchName, BenchOptions } from '../src/cli/bench-command.ts';
import { CliError } from '../src/cli/cli-error.ts';
import { makeFolder } from '../src/make-folder.ts';
import { checkAssertions, parseAssertion } from './assertions.ts';
import type { DeploymentBench } from './deployment/run.ts';
import { Recording } from './recording.ts';
import { writable } from './result/file.ts';

export { compareFiles } from './compare.ts';
export { report } from './report/page.ts';

type Bench = (recording: Recording, options: BenchOptions) => Promise<void>;

const EVENTS = 30_000_000;
const RUNS = 30;

/** Each bench is loaded when it runs. */
const LOCAL: Readonly<Record<Exclude<BenchName, 'suite'>, Bench>> = {
  data: async (recording, { dir, events = EVENTS, days }) =>
    (await import('./data.ts')).benchData(recording, folder(dir), { events, days }),
  queries: async (recording, { dir, events = EVENTS, days, runs = RUNS }) =>
    (await import('./queries.ts')).benchQueries(recording, folder(dir), { events, days }, { runs }),
  scale: async (recording, { dir, events = EVENTS, days, runs = RUNS }) =>
    (await import('./scale.ts')).benchScale(recording, folder(dir), { events, days }, runs),
  http: async (recording, { seconds }) => (await import('./http.ts')).benchHttp(recording, seconds),
  pollers: async (recording) => (await import('./pollers.ts')).benchPollers(recording),
  ingest: async (recording, { seconds }) => (await import('./ingest.ts')).benchIngest(recording, seconds),
  overload: async (recording, { seconds }) =>
    (await import('./overload.ts')).benchOverload(recording, seconds),
  soak: async (recording, { minutes }) => (await import('./soak.ts')).benchSoak(recording, minutes),
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

async function runAgainst(
  recording: Recording,
  name: BenchName,
  options: BenchOptions & { readonly url: string },
): Promise<void> {
  const { benchDeployment } = await import('./deployment/run.ts');
  const { url, key = [], rate = [] } = options;
  const common = { url, keys: key, rates: rate };
  if (name === 'suite') {
    const { DEPLOYMENT_PRESETS, presetOf } = await import('./suite.ts');
    const benches = ['data', 'queries', 'ingest', 'http'] as const;
    await benchDeployment(recording, { ...common, benches, ...DEPLOYMENT_PRESETS[presetOf(options)] });
    return;
  }
  const { events = 20_000, days = 30, runs = 3, seconds = 10 } = options;
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
      '--url and --key belong together: say the address of a running service, and an API key of it.',
    );
  }
  const assertions = (options.assert ?? []).map(parseAssertion);
  const recording = new Recording({
    command,
    target: options.url ?? null,
    json: options.json === undefined ? null : writable('--json', options.json),
    html: options.html === undefined ? null : writable('--html', options.html),
  });
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
    recording.end(complete);
  }
  const wrong = recording.cases.filter(({ exact }) => exact === false);
  for (const { bench, name: asked, measure } of wrong) console.log(`WRONG: ${bench}: ${asked}, ${measure}`);
  const failed = checkAssertions(recording.cases, assertions);
  for (const line of failed) console.log(`FAILED: ${line}`);
  if (recording.stopping) process.exitCode = 130;
  else if (recording.failed || wrong.length + failed.length > 0) process.exitCode = 1;
}
