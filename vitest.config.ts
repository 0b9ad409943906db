import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The longest files of each command, which run first. If they began last, one worker would run them alone.
 */
const LONG = [
  'long/sealing-two',
  'long/sealing-a',
  'long/sealing-b',
  'long/moving-processes',
  'long/moving-embedded',
  'long/chaos',
  'long/tags',
  'long/oracle',
  'long/purge',
  'long/moving-killed',
  'browser/sdk-delivers',
  'faults/start',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // `npm run test:packages` and `npm run test:alerts` run them, each with a setup of its own.
    exclude: [...configDefaults.exclude, 'test/packages/**', 'test/alerts/**'],
    globalSetup: 'test/support/global-setup.ts',
    // The embedded engine holds one data folder per process, so each file gets its own process.
    pool: 'forks',
    isolate: true,
    // One more than the two cores of a small machine, because many tests wait for a process or a clock.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { UV_THREADPOOL_SIZE: '16' },
  },
});
