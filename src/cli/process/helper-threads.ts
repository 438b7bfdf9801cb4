import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { Logger } from '../../base/log.ts';

const HELPER_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the priority of V8's helper threads. V8 has four threads for garbage collection and compilation, however few CPUs
 * there are; under full load they take the CPUs from the threads that serve requests (figures in bench/README.md). Must be
 * called before the program starts threads of its own. Failing to lower the priority is not an error.
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
