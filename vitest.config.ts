import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Real processes and a thirty-fold clock on a shared machine: one stall may fail a test, a fault fails it twice.
    retry: process.env.CI === 'true' ? 1 : 0,
    // For two cores. End to end, most of the time is spent waiting for processes, each with a clock of its own; elsewhere many
    // a clock runs thirty times as fast, and does not bear a third neighbour.
    projects: [
      {
        extends: true,
        test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], maxWorkers: 4, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/{unit,contract,sim,packaging}/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
