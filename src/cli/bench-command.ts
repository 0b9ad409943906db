import { CliError } from './cli-error.ts';
import { type CommandLine, valueOption, wholeNumber } from './command-line.ts';

/** What `bench` is given. */
export interface BenchOptions {
  readonly events: number;
  readonly days: number;
  readonly runs: number;
  readonly seconds: number;
  readonly minutes: number;
  readonly dir: string;
  readonly json?: string;
}

/** The benches are not part of `src`. Compiled, they lie beside this folder. */
const BENCH = new URL(
  import.meta.url.endsWith('.ts') ? '../../bench/main.ts' : '../bench/main.js',
  import.meta.url,
);

const NAMES = `
Benches:
  queries   every question on N events of D days, beside the raw exact answers
  scale     the same range with a tenth of the traffic, and ten times the range with the same traffic
  http      304s and cached answers beside a bare route, and 200 keys that poll, for S seconds each
  pollers   ten keys that poll every 30 s, and the same that poll every second, for 3 minutes
  ingest    batches of 1, 20 and 500 events over HTTP, each for S seconds, and the import of a file
  overload  twice the load that can be answered, for S seconds (30 is good): throughput, fairness, health, recovery
  soak      polling, questions and ingestion for M minutes: memory, open files and latency, and their slopes

Example: bench queries --events 1000000 --runs 5`;

export function addBenchCommand(parent: CommandLine): void {
  const whole = (flags: string, says: string, standard: number, least = 1) =>
    valueOption(flags, says, wholeNumber(least)).default(standard);
  parent
    .command('bench')
    .description('Measures the service on this machine. Some benches need redis-server.')
    .argument('<bench>', 'One of the benches below.')
    .addOption(whole('--events <N>', 'Events of the data set.', 30_000_000))
    // The questions' ranges skip two days at the beginning and one at the end.
    .addOption(whole('--days <D>', 'Days of the data set.', 30, 4))
    .addOption(whole('--runs <R>', 'Measurements of each question.', 30))
    .addOption(whole('--seconds <S>', 'Length of one measurement.', 10))
    .addOption(whole('--minutes <M>', 'Length of soak.', 10))
    .addOption(
      valueOption('--dir <folder>', 'Keeps the data sets, which take long to make.').default('.cache/bench'),
    )
    .addOption(valueOption('--json <file>', 'Also writes the figures to this file.'))
    .addHelpText('after', NAMES)
    .action((name: string, options: BenchOptions) => run(name, options).catch(end));
}

async function run(name: string, options: BenchOptions): Promise<void> {
  const { bench }: { bench: typeof run } = await import(BENCH.href);
  await bench(name, options);
}

/** A failed bench shows its stack, and leaves no part of it running. */
function end(error: unknown): void {
  if (error instanceof CliError) throw error;
  console.error(error);
  process.exit(1);
}
