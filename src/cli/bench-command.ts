import { InvalidArgumentError, Option } from 'commander';
import { isNoRoom } from '../domain/no-room.ts';
import { CliError, sayEnd } from './cli-error.ts';
import { type CommandLine, valueOption, wholeNumber } from './command-line.ts';

export type BenchName = keyof typeof BENCHES;

/** The options of a bench. */
export interface BenchOptions {
  /** The standard depends on whether a deployment is measured. */
  readonly events?: number;
  readonly days: number;
  readonly runs?: number;
  readonly seconds?: number;
  readonly minutes: number;
  readonly requestsPerSecond?: number;
  readonly apps: number;
  readonly large: number;
  readonly largeEvents: number;
  readonly active: number;
  readonly eventsPerSecond: number;
  readonly dir: string;
  readonly quick?: boolean;
  readonly standard?: boolean;
  readonly full?: boolean;
  readonly json?: string;
  readonly html?: string;
  readonly assert?: readonly string[];
  readonly url?: string;
  readonly key?: readonly string[];
  readonly rate?: readonly number[];
}

const whole =
  (flags: string, says: string, standard: number, least = 1) =>
  () =>
    valueOption(flags, says, wholeNumber(least)).default(standard);

const OPTIONS = {
  events: () =>
    valueOption('--events <N>', 'Events of the data set (30000000; with --url 20000).', wholeNumber(1)),
  // The questions' ranges skip two days at the beginning and one at the end.
  days: whole('--days <D>', 'Days of the data set.', 30, 4),
  runs: () =>
    valueOption(
      '--runs <R>',
      'Measurements of each question (30; with --url 5). `compare` needs 4.',
      wholeNumber(1),
    ),
  seconds: () => valueOption('--seconds <S>', 'Length of one measurement (10; less with --quick).', positive),
  polledApps: () =>
    valueOption('--apps <N>', 'Apps that are polled, each with ten keys (20).', wholeNumber(1)).conflicts(
      'url',
    ),
  importedEvents: () =>
    valueOption(
      '--events <N>',
      'Events of the imported file (1000000; less with --quick). With --url, events that are stored first (20000).',
      wholeNumber(1),
    ),
  floodedEvents: () =>
    valueOption(
      '--events <N>',
      'Events of the app that is flooded (240000; less with --quick).',
      wholeNumber(1),
    ),
  quick: () => new Option('--quick', 'The sizes of `suite --quick`.').conflicts('url'),
  minutes: () => valueOption('--minutes <M>', 'Length of the whole.', positive).default(10),
  requestsPerSecond: () =>
    valueOption('--requests-per-second <N>', 'Polls, questions and batches in all (6).', positive),
  apps: whole('--apps <N>', 'Apps.', 5_000, 2),
  large: whole('--large <N>', 'Large ones among them.', 200),
  largeEvents: whole('--large-events <N>', 'Events of each large app before the load.', 50_000),
  active: whole('--active <N>', 'Apps that get events.', 1_000),
  eventsPerSecond: whole('--events-per-second <N>', 'Events for all of these together.', 2_000),
  dir: () =>
    valueOption('--dir <folder>', 'Keeps the data sets, which take long to make.').default('.cache/bench'),
};

interface Described {
  readonly says: string;
  /** Also measures a deployment at an address. */
  readonly anywhere?: true;
  readonly options: readonly (keyof typeof OPTIONS)[];
}

const BENCHES = {
  data: {
    says: 'Builds the data set: storage by kind, speed of sealing.',
    options: ['events', 'days', 'dir'],
    anywhere: true,
  },
  queries: {
    says: 'Every question, beside the raw exact answers.',
    anywhere: true,
    options: ['events', 'days', 'runs', 'dir'],
  },
  scale: {
    says: 'The same range with a tenth of the traffic, and ten times the range with the same traffic.',
    options: ['events', 'days', 'runs', 'dir'],
  },
  http: {
    says: '304s and cached answers beside a bare route; 200 keys that poll: throughput and latency.',
    options: ['quick', 'seconds', 'polledApps'],
    anywhere: true,
  },
  pollers: { says: 'Ten keys that poll every second, and every 30 s, for 3 minutes.', options: [] },
  ingest: {
    says: 'Batches of 1, 20 and 500 events, and the import of a file.',
    options: ['quick', 'seconds', 'importedEvents'],
    anywhere: true,
  },
  overload: {
    says: 'Twice the load that can be answered: throughput, fairness, health, recovery.',
    options: ['quick', 'seconds', 'floodedEvents'],
  },
  soak: {
    says: 'Polls, streams, questions, events, deletions at a steady rate: slopes of memory, files, threads, latency, disk.',
    options: ['minutes', 'requestsPerSecond'],
  },
  apps: {
    says: 'Many apps, events for a part of them: memory, lag of sealing, first questions about cold apps.',
    options: ['apps', 'large', 'largeEvents', 'active', 'eventsPerSecond', 'minutes'],
  },
  suite: {
    says: 'All but `pollers` and `apps` in one run, with one file and one page of results.',
    options: ['dir'],
    anywhere: true,
  },
} satisfies Readonly<Record<string, Described>>;

const EXAMPLES: Readonly<Record<BenchName, string>> = {
  data: 'bench data --events 1000000',
  queries: 'bench queries --events 1000000 --runs 5',
  scale: 'bench scale --events 1000000 --runs 5',
  http: 'bench http --seconds 3 --assert http:p99=50ms',
  pollers: 'bench pollers --json pollers.json',
  ingest: 'bench ingest --seconds 30',
  overload: 'bench overload --seconds 30',
  soak: 'bench soak --minutes 120 --requests-per-second 3 --html soak.html',
  apps: 'bench apps --apps 200 --large 8 --large-events 5000 --active 40 --events-per-second 200 --minutes 0.5',
  suite: 'bench suite --quick --json bench.json --html bench.html',
};

/** The benches are not part of `src`. Compiled, they lie beside this folder. */
const moduleOf = (name: string): string =>
  new URL(import.meta.url.endsWith('.ts') ? `../../bench/${name}.ts` : `../bench/${name}.js`, import.meta.url)
    .href;

export function addBenchCommand(parent: CommandLine): void {
  const group = parent
    .command('bench')
    .description('Measures the service, and makes reports of it. Some benches need redis-server.')
    .addHelpText('after', '\nExample:\n  session-analytics bench suite --quick') as CommandLine;
  for (const name of Object.keys(BENCHES) as BenchName[]) addBench(group, name);
  group
    .command('report')
    .description('Makes one page of a result: plots and tables, in one file without scripts.')
    .argument('<result>', 'A file of --json.')
    .addOption(valueOption('--html <file>', 'The page.').makeOptionMandatory())
    .addHelpText('after', example('bench report bench.json --html bench.html'))
    .action(async (file: string, { html }: { readonly html: string }) =>
      (await import(moduleOf('main'))).report(file, html),
    );
  group
    .command('compare')
    .description('Compares two results case by case. Exit code 1 if one is worse beyond noise.')
    .argument('<A>', 'A file of --json.')
    .argument('<B>', 'A later one.')
    .addOption(valueOption('--threshold <percent>', 'Smaller differences do not count.', percent).default(10))
    .addHelpText('after', example('bench compare before.json after.json --threshold 5'))
    .action(async (a: string, b: string, { threshold }: { readonly threshold: number }) =>
      (await import(moduleOf('main'))).compareFiles(a, b, threshold),
    );
}

const example = (text: string): string => `\nExample:\n  session-analytics ${text}`;

/** For an option that may be repeated. */
const all = (text: string, before: readonly string[] = []): string[] => [...before, text];

function addDeploymentOptions(command: CommandLine, name: BenchName): void {
  if (name === 'http') {
    command.addOption(
      valueOption('--events <N>', 'Events that are stored first, with --url (20000).', wholeNumber(1)),
    );
  }
  if (name === 'http' || name === 'ingest') {
    command.addOption(valueOption('--days <D>', 'Days of these events.', wholeNumber(1)).default(30));
  }
  command
    .addOption(
      valueOption(
        '--url <address>',
        'Measures the running service at this address, on an app of its own.',
        origin,
      ),
    )
    .addOption(
      new Option(
        '--key <key>',
        'An API key of that service. Several keys of one account allow a higher rate. Others on the machine can see options; the variable stays hidden.',
      )
        .env('BENCH_API_KEY')
        .argParser(all),
    );
  if (name === 'http' || name === 'suite') {
    command.option(
      '--rate <number>',
      'Requests per second with --url. May be repeated. By default, shares of what the keys allow.',
      (text: string, before: readonly number[] = []) => [...before, positive(text)],
    );
  }
}

function origin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return text;
  throw new InvalidArgumentError('It must be an address such as https://analytics.example.');
}

function positive(text: string): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number > 0) return number;
  throw new InvalidArgumentError('It must be a number above 0.');
}

const percent = (text: string): number => wholeNumber(0)(text);

function addBench(group: CommandLine, name: BenchName): void {
  const { says, options, anywhere }: Described = BENCHES[name];
  const command = group.command(name).description(says);
  for (const option of options) command.addOption(OPTIONS[option]());
  if (anywhere === true) addDeploymentOptions(command, name);
  if (name === 'suite') {
    command
      .option('--quick', 'About 3 minutes on two cores. The default.')
      .option('--standard', 'At most 20 minutes.')
      .option('--full', 'Hours: 30 million events, 30 runs, half an hour of soak.');
  }
  command
    .addOption(valueOption('--json <file>', 'Writes what was measured to this file.'))
    .addOption(valueOption('--html <file>', 'Writes a page with plots to this file.'))
    .option(
      '--assert <limit>',
      'Such as p99=50ms, or http:p99=50ms for cases with this name. Exit code 1 if one is slower. May be repeated.',
      all,
    )
    .addHelpText('after', example(EXAMPLES[name]))
    .action(({ key, ...given }: BenchOptions) => {
      // A key of the environment does not turn a bench of this machine into one of a deployment.
      const isUnused = given.url === undefined && command.getOptionValueSource('key') === 'env';
      return run(name, key === undefined || isUnused ? given : { ...given, key }).catch(end);
    });
}

async function run(name: BenchName, options: BenchOptions): Promise<void> {
  const { bench } = await import(moduleOf('main'));
  const words = process.argv.slice(3);
  // Keys are secret.
  const shown = words.map((word, i) => (words[i - 1] === '--key' ? '…' : word.replace(/^(--key=).*/, '$1…')));
  await bench(name, options, `bench ${shown.join(' ')}`);
}

/** A failed bench shows its stack, unless the disk is full, and leaves no part of it running. */
function end(error: unknown): void {
  if (error instanceof CliError) throw error;
  if (isNoRoom(error)) sayEnd(error);
  else console.error(error);
  process.exit(1);
}
