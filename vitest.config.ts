import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The longest files, those that take most time first. They run first: if they began last, one worker would run them alone.
 * The parts of a command (--shard) share them, so that each part takes about as long.
 */
const LONG = [
  'long/erasure',
  'long/bench-local',
  'browser/console-analytics-looks',
  'long/backup-killed',
  'store/underway',
  'browser/console-links',
  'browser/console-links-looks',
  'long/ingestion-refused',
  'store/ingestion-taken-over',
  'store/large-rows',
  'browser/console-looks',
  'long/large-lists',
  'browser/docs-page',
  'long/moving-killed',
  'long/retention',
  'long/import-killed',
  'long/ingestion-faults',
  'long/erasure-killed',
  'store/backup',
  'store/commits',
  'long/oracle',
  'browser/console-apps',
  'long/sealing-two',
  'long/sealing-killed',
  'long/purge',
  'faults/start',
  'long/moving-processes',
  'browser/sdk-delivers',
  'http/management/admin',
  'store/erasure',
  'http/management/erasure',
  'browser/console-figures',
  'faults/start-waiting',
  'store/ingestion-once',
  'store/import-survives',
  'store/metadata-changes',
  'store/segments',
  'store/ingestion-clocks',
  'long/streams',
  'store/tags',
  'store/backends',
  'long/import-memory',
  'long/sealing-fair',
  'long/tags',
  'store/transfer',
  'long/chaos',
];

/**
 * What `npm test` leaves to `npm run test:long`, so that it takes a few minutes: folders, and the files of other folders
 * that take longest. Without TESTS, all tests run that the command line names.
 */
const LONGER = [
  ...['long', 'faults', 'browser', 'bench'].map((folder) => `test/${folder}/**/*.test.ts`),
  ...[
    'http/client',
    'http/console/links',
    'http/management/admin',
    'http/management/backup',
    'http/management/erasure',
    'http/management/import',
    'http/management/measured',
    'http/management/snippets',
    'http/management/terminal',
    'http/management/transfer',
    'http/openapi',
    'http/process',
    'http/retention',
    'http/sdk-events/503',
    'http/tracing',
    'kit/exit',
    'security/auth',
    'security/event-loop',
    'security/input',
    'security/secrets',
    'store/backends',
    'store/backup',
    'store/cluster',
    'store/deletion-traces',
    'store/demo',
    'store/erasure',
    'store/import-rotated',
    'store/import-survives',
    'store/ingestion-away',
    'store/ingestion-clocks',
    'store/ingestion-crash',
    'store/ingestion-months',
    'store/ingestion-once',
    'store/ingestion-repeated',
    'store/ingestion-taken-over',
    'store/large-rows',
    'store/late',
    'store/late-sessions',
    'store/metadata-account-deletion',
    'store/metadata-apps',
    'store/metadata-changes',
    'store/metadata-deletion',
    'store/moved-ranges',
    'store/moving',
    'store/oracle-import',
    'store/processes',
    'store/question',
    'store/rebuild',
    'store/retention',
    'store/sealed-cache',
    'store/segment-of-all',
    'store/segments',
    'store/sealing-stuck',
    'store/sealing-two',
    'store/tags',
    'store/tokens',
    'store/transfer',
    'store/underway',
    'store/upgrade',
    'unit/code-version',
    'unit/linear-time',
    'unit/scripts',
  ].map((name) => `test/${name}.test.ts`),
];
const ALL = ['test/**/*.test.ts'];
/** The tests of functions, without a store or a service. */
const UNIT = 'test/unit/**/*.test.ts';

/** Some of the tests: the files, and those of them that are unit tests. */
interface Part {
  readonly include: string[];
  readonly unit: string[];
  readonly exclude: string[];
  /** Milliseconds. */
  readonly timeout: number;
  /** Whether each file that is no unit test gets a process of its own. */
  readonly isolate: boolean;
}
const WHOLE: Part = { include: ALL, unit: [UNIT], exclude: [], timeout: 240_000, isolate: true };
const PARTS: Readonly<Record<string, Part>> = {
  // The embedded engine holds one data folder at a time, and each file closes what it opened. So files follow each other in
  // a process: a sixth of the time was to start one and to import the service.
  quick: { ...WHOLE, exclude: [...LONGER, 'test/containers/**'], isolate: false },
  long: {
    include: LONGER,
    unit: LONGER.filter((name) => name.startsWith('test/unit/')),
    exclude: [],
    timeout: 1_200_000,
    isolate: true,
  },
};
const part = PARTS[process.env['TESTS'] ?? ''] ?? WHOLE;

/** What `npm run test:cluster` leaves out of `store` and `http`, and why. */
const NOT_ON_A_CLUSTER = {
  'store/cluster': 'is a cluster by itself, in npm run test:long',
  'store/containers': 'is about containers, in npm run test:containers',
  'store/committed': 'is about a process that is alone on its store, which is embedded',
  'store/ingestion-crash': 'kills a process with an embedded store',
  'store/upgrade': 'opens embedded stores that earlier versions made; a cluster begins empty',
  'store/backup': 'the service makes no backups of a cluster, which store/cluster shows',
  'http/management/backup': 'as store/backup',
  'http/management/snippets': 'runs the examples of the documentation, and some of them make backups',
  'http/management/metrics':
    'counts threads of the engine in the process, and ends Redis, which a server needs',
  'http/store-away': 'drops the tables of a process that is alone on its store',
  'store/demo': 'the demo is on an embedded store',
  'store/docs-sql': 'compares the text of statements with the documentation, which shows those of one server',
  'store/forms': 'writes an answer in every form, without tables',
};

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longFirst(await super.sort(files));
  }

  /** Deals the files in turn, back and forth. Each file is always in the same part. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    const byName = files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    const partOf = (i: number): number =>
      Math.floor(i / count) % 2 === 0 ? i % count : count - 1 - (i % count);
    return longFirst(byName).filter((_, i) => partOf(i) === index - 1);
  }
}

/** Puts the longest files first, in the order of `LONG`, and leaves the others in their order. */
function longFirst(files: readonly TestSpecification[]): TestSpecification[] {
  const rank = ({ moduleId }: TestSpecification): number => {
    const place = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    return place === -1 ? LONG.length : place;
  };
  return files.toSorted((a, b) => rank(a) - rank(b));
}

const leftOut = (): string[] =>
  process.env['STORE'] === 'cluster'
    ? Object.keys(NOT_ON_A_CLUSTER).map((name) => `test/${name}.test.ts`)
    : [];

/** `npm run test:packages` and `npm run test:alerts` run them, each with a setup of its own. */
const ELSEWHERE = ['test/packages/**', 'test/alerts/**'];
const exclude = [...configDefaults.exclude, ...ELSEWHERE, ...part.exclude, ...leftOut()];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: part.unit, exclude, isolate: false } },
      {
        extends: true,
        test: { name: 'other', include: part.include, exclude: [...exclude, UNIT], isolate: part.isolate },
      },
    ],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    // Many tests wait for a process or a clock, so one more than there are cores keeps them busy. More make tests wait for
    // each other.
    maxWorkers: Math.min(8, availableParallelism() + 1),
    sequence: { sequencer: LongFirst },
    // These end what hangs. A test that waits must not fail because a loaded machine is slow.
    testTimeout: part.timeout,
    hookTimeout: part.timeout,
    expect: { poll: { timeout: 200_000 } },
    env: { UV_THREADPOOL_SIZE: '16' },
  },
});
