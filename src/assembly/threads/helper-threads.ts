import { readdirSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from '../../base/log.ts';

const HELPER_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;
/** V8 starts this many threads for garbage collection and compilation, however few CPUs there are. */
const HELPER_THREADS = 4;

/**
 * Lowers the priority of V8's helper threads. Under full load they take the CPUs from the threads that serve requests
 * (figures in bench/README.md). Must be called before the program starts threads of its own. Failing to lower the priority
 * is not an error.
 */
export function lowerHelperPriority(log: Pick<Logger, 'debug'>): void {
  if (process.platform !== 'linux') return;
  try {
    for (const thread of readdirSync('/proc/self/task').map(Number)) {
      // Linux gives each thread its own priority. Priorities are only lowered: raising one needs privileges.
      if (thread !== process.pid && getPriority(thread) < HELPER_PRIORITY) setPriority(thread, HELPER_PRIORITY);
    }
  } catch (error) {
    log.debug('the priority of helper threads was not lowered', { error });
  }
}

/**
 * Makes V8 collect the garbage of young objects in the thread that they are in, unless there is a CPU for every helper thread.
 * Otherwise that thread waits for helpers that have got no CPU: for hundreds of milliseconds where it has work for one.
 * Old objects are collected with the helpers, mostly while the thread goes on. To be called after the start: V8 rejects code
 * that was compiled with other flags.
 */
export function collectWithoutHelpers(): void {
  if (availableParallelism() > HELPER_THREADS) return;
  setFlagsFromString('--no-parallel-scavenge');
}
