import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { IN_A_TEST, runDirectory } from './test/support/leftovers.ts';

/** Mostly wait, for other programs or for time limits: more of them run at a time than there are cores. */
const WAITING = [
  ...[
    'e2e',
    'docs',
    'examples',
    'extending',
    'isolation',
    'network',
    'node-releases',
    'package',
    'runtimes',
    'streams',
  ].map((folder) => `test/${folder}/**/*.test.ts`),
  'src/assembly/threads/helper-threads.test.ts',
  'src/server/serving/http/server.test.ts',
  'src/server/serving/http/front/front-thread.test.ts',
  'src/store/etcd/etcd-store.test.ts',
];

/** Compare times with each other, or wait for a program that is busy on purpose: they run after all others. */
const MEASURING = [
  ...['linear', 'growth', 'crash'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/fuzz/linear-parsers.test.ts',
  'src/server/operations/subresources/proxy/html-links.test.ts',
];

/** Replace a module, change the user of their process, measure its memory, watch its errors, or look into Node's own parts. */
export const ISOLATED: readonly string[] = [
  'src/server/serving/http/node-internals.test.ts',
  'src/server/serving/http/listen/*.test.ts',
  'src/server/serving/http/front/batched-port.test.ts',
  'src/store/embedded/reserve.test.ts',
  'src/store/embedded/full.test.ts',
  'src/base/collections/bounded-map.test.ts',
  'src/base/bytes/shared-buffer.test.ts',
  'test/fuzz/http.test.ts',
  'src/server/bounded-caches.test.ts',
  'src/server/access/authz/rbac/rbac.test.ts',
  'src/server/serving/codec/yaml.test.ts',
  'src/server/serving/http/respond/text-stream.test.ts',
  'test/isolation/plain-user.test.ts',
  'test/runtimes/process-delegated.test.ts',
  'test/runtimes/process-user.test.ts',
];

const CORES = Math.max(2, availableParallelism());
const MORE_THAN_CORES = Math.ceil(1.5 * CORES);
/** What files import is loaded once in each process. */
const SHARED_PROCESSES = { isolate: false } as const;
const COMMON = {
  pool: 'forks',
  testTimeout: 20_000,
  hookTimeout: 60_000,
  // kubectl ends soon: with this, its garbage is seldom collected, which is a fifth of its work.
  env: { TMPDIR: runDirectory, [IN_A_TEST]: 'true', GOGC: '400' },
} as const;

export default defineConfig({
  test: {
    globalSetup: 'test/support/leftovers.ts',
    projects: [
      {
        test: {
          ...{ ...COMMON, name: 'shared', include: ['src/**/*.test.ts', 'test/**/*.test.ts'] },
          exclude: [...WAITING, ...MEASURING, ...ISOLATED, '**/node_modules/**'],
          ...{ ...SHARED_PROCESSES, maxWorkers: CORES, sequence: { groupOrder: 0 } },
        },
      },
      {
        test: {
          ...{ ...COMMON, name: 'waiting', include: WAITING, ...SHARED_PROCESSES },
          exclude: [...ISOLATED, '**/node_modules/**'],
          ...{ maxWorkers: MORE_THAN_CORES, sequence: { groupOrder: 1 } },
        },
      },
      {
        test: {
          ...{ ...COMMON, name: 'isolated', include: [...ISOLATED] },
          ...{ maxWorkers: MORE_THAN_CORES, sequence: { groupOrder: 1 } },
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
