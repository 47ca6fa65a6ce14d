import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,contract,sim,packaging,e2e}/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Real processes and a thirty-fold clock on a shared machine: one stall may fail a test, a fault fails it twice.
    retry: process.env.CI === 'true' ? 1 : 0,
    // Two cores, and each file starts servers of its own.
    maxWorkers: 2,
  },
});
