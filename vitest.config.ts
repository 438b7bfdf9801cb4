import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { FailureList } from './test/support/failure-list.ts';
import { IN_A_TEST, runDirectory } from './test/support/leftovers.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/**
 * The class of a test is in the name of its file (CONTRIBUTING.md, "Tests").
 *
 * - `x.test.ts` starts no program and shares its process with others.
 * - `x.programs.test.ts` starts programs, and mostly waits for them: more of them run at a time than there are cores.
 * - `x.isolated.test.ts` has a process to itself: it replaces a module, changes the user of its process, measures its memory,
 *   watches its errors, or looks into Node's own parts. `x.programs.isolated.test.ts` starts programs, too.
 * - `x.measuring.test.ts` compares times or keeps a program busy on purpose: it runs after all others.
 */
const PROGRAMS = '{src,test}/**/*.programs.test.ts';
const ISOLATED = '{src,test}/**/*.isolated.test.ts';
const ISOLATED_PROGRAMS = '{src,test}/**/*.programs.isolated.test.ts';
const MEASURING = '{src,test}/**/*.measuring.test.ts';

const TESTS = ['src/**/*.test.ts', 'test/**/*.test.ts'];
const PACKAGES = '**/node_modules/**';
const NO_PROGRAMS = { setupFiles: ['test/support/no-programs.ts'] };

const CORES = Math.max(2, availableParallelism());
/**
 * Files that start no program wait for timers and sockets now and then, those with programs for two thirds of their time: with
 * two of them for each core, a fifth of the cores had nothing to do.
 */
const WORKERS = Math.ceil(1.5 * CORES);
const WORKERS_WITH_PROGRAMS = 3 * CORES;
/** What files import is loaded once in each process. */
const SHARED_PROCESSES = { isolate: false } as const;
const COMMON = {
  pool: 'forks',
  testTimeout: 60_000,
  hookTimeout: 90_000,
  // Time limits end what hangs. A slow machine must not reach them.
  expect: { poll: { timeout: 10_000 } },
  env: {
    ...{ TMPDIR: runDirectory, [IN_A_TEST]: 'true' },
    // kubectl ends soon: with this, its garbage is seldom collected, which is a fifth of its work.
    GOGC: '400',
    // npm would ask its registry for a newer release of itself.
    npm_config_update_notifier: 'false',
  },
} as const;

/** More of them run at a time than there are cores: each may take longer. */
const WITH_PROGRAMS = {
  ...COMMON,
  testTimeout: 2 * COMMON.testTimeout,
  hookTimeout: 2 * COMMON.hookTimeout,
  expect: { poll: { timeout: 30_000 } },
};

export default defineConfig({
  test: {
    globalSetup: 'test/support/leftovers.ts',
    sequence: { sequencer: LongestFirst },
    // A module that one project has transformed is transformed by no other, and by the next run only when it has changed.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest' },
    reporters: ['default', ...(process.env.GITHUB_ACTIONS === 'true' ? ['github-actions'] : []), new FailureList()],
    projects: [
      {
        test: {
          ...{ ...COMMON, ...NO_PROGRAMS, name: 'fast', include: TESTS },
          exclude: [PROGRAMS, ISOLATED, MEASURING, PACKAGES],
          ...{ ...SHARED_PROCESSES, maxWorkers: WORKERS, sequence: { groupOrder: 0 } },
        },
      },
      {
        test: {
          ...{ ...COMMON, ...NO_PROGRAMS, name: 'isolated', include: [ISOLATED] },
          exclude: [ISOLATED_PROGRAMS, PACKAGES],
          ...{ maxWorkers: WORKERS, sequence: { groupOrder: 0 } },
        },
      },
      {
        test: {
          ...{ ...WITH_PROGRAMS, name: 'programs', include: [PROGRAMS], exclude: [PACKAGES] },
          ...{ ...SHARED_PROCESSES, maxWorkers: WORKERS_WITH_PROGRAMS, sequence: { groupOrder: 1 } },
        },
      },
      {
        test: {
          ...{ ...WITH_PROGRAMS, name: 'isolated-programs', include: [ISOLATED_PROGRAMS], exclude: [PACKAGES] },
          ...{ maxWorkers: WORKERS_WITH_PROGRAMS, sequence: { groupOrder: 1 } },
        },
      },
      {
        test: {
          ...{ ...COMMON, name: 'measuring', include: [MEASURING], exclude: [PACKAGES] },
          ...{ maxWorkers: CORES, sequence: { groupOrder: 2 } },
        },
      },
    ],
  },
});
