import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // The embedded engine holds one data folder per process: each file gets a process of its own.
    pool: 'forks',
    isolate: true,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { UV_THREADPOOL_SIZE: '16' },
  },
});
