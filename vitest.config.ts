import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { IN_A_TEST, runDirectory } from './test/support/leftovers.ts';

/** Mostly wait, for other programs or for time limits: more of them run at a time than there are cores. */
const WAITING = [
  ...['e2e', 'docs', 'examples', 'extending', 'network', 'node-releases', 'package', 'runtimes', 'streams'].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  'src/cli/process/helper-threads.test.ts',
  'src/server/http/server.test.ts',
  'src/server/http/front/front-thread.test.ts',
  'src/store/etcd/etcd-store.test.ts',
];

/** Compare times with each other, or wait for a program that is busy on purpose: they run after all others. */
const MEASURING = [
  ...['linear', 'growth', 'crash'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/fuzz/linear-parsers.test.ts',
  'src/server/subresources/proxy/html-links.test.ts',
];

/** Replace a module, measure the memory of their process, watch its errors, or look into Node's own parts. */
const ISOLATED = [
  'src/server/http/node-internals.test.ts',
  'src/server/http/listen/*.test.ts',
  'src/server/http/front/batched-port.test.ts',
  'src/store/embedded/reserve.test.ts',
  'src/store/embedded/full.test.ts',
  'src/base/collections/bounded-map.test.ts',
  'src/base/bytes/shared-buffer.test.ts',
  'test/fuzz/http.test.ts',
  'src/server/bounded-caches.test.ts',
  'src/server/authz/rbac/rbac.test.ts',
  'src/server/http/body/yaml.test.ts',
  'src/server/http/respond/text-stream.test.ts',
];

const CORES = Math.max(2, availableParallelism());
const COMMON = {
  pool: 'forks',
  testTimeout: 20_000,
  hookTimeout: 60_000,
  env: { TMPDIR: runDirectory, [IN_A_TEST]: 'true' },
} as const;

export default defineConfig({
  test: {
    globalSetup: 'test/support/leftovers.ts',
    projects: [
      {
        test: {
          ...{ ...COMMON, name: 'shared', include: ['src/**/*.test.ts', 'test/**/*.test.ts'] },
          exclude: [...WAITING, ...MEASURING, ...ISOLATED, '**/node_modules/**'],
          // Files share processes, so that what they import is loaded once in each process.
          isolate: false,
          ...{ maxWorkers: CORES, sequence: { groupOrder: 0 } },
        },
      },
      {
        test: {
          ...{ ...COMMON, name: 'waiting', include: [...WAITING, ...ISOLATED] },
          ...{ maxWorkers: Math.ceil(1.5 * CORES), sequence: { groupOrder: 1 } },
        },
      },
      {
        test: {
          ...{ ...COMMON, name: 'measuring', include: MEASURING },
          ...{ maxWorkers: CORES, sequence: { groupOrder: 2 } },
        },
      },
    ],
  },
});
