import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Compare times with each other, or wait for a program that is busy on purpose: they run alone, after all others. */
const MEASURING = ['test/linear/**/*.test.ts', 'test/growth/**/*.test.ts', 'test/crash/**/*.test.ts'];

const COMMON = { pool: 'forks', testTimeout: 20_000, hookTimeout: 60_000 } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...COMMON,
          name: 'all',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...MEASURING, '**/node_modules/**'],
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: { ...COMMON, name: 'measuring', include: MEASURING, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
