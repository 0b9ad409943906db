import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/alerts/*.test.ts'],
    globalSetup: ['test/alerts/tools.ts', 'test/support/global-setup.ts'],
    pool: 'forks',
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
