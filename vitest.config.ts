import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These take minutes; begun last, one worker would run them while the other has nothing left. */
const LONG = [
  'store/sealing-a',
  'store/sealing-b',
  'store/sealing-two',
  'store/moving-embedded',
  'store/moving-processes',
  'store/tags',
  'store/oracle',
  'faults/large-lists',
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
    globalSetup: 'test/support/global-setup.ts',
    // The embedded engine holds one data folder per process: each file gets a process of its own.
    pool: 'forks',
    isolate: true,
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { UV_THREADPOOL_SIZE: '16' },
  },
});
