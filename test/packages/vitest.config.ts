import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/packages/*.test.ts'],
    globalSetup: 'test/packages/packing.ts',
    pool: 'forks',
    // The demo loads its data meanwhile.
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
