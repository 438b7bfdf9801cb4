import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { Logger } from '../../base/log.ts';

const LAST = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * V8 has four threads that collect garbage and compile, however few processors there are. When they are busy, they take the
 * processors from the threads that answer, and clients wait: of patches under full load the slowest hundredth took 34 ms, and
 * takes 23 since these threads come behind the others. To be called before there are others than V8's.
 *
 * The program runs without this as well, so that a system which does not allow it is no reason not to start.
 */
export function helpersComeLast(log: Logger): void {
  if (process.platform !== 'linux') return;
  try {
    for (const thread of readdirSync('/proc/self/task').map(Number)) {
      // For Linux a thread is as good as a process. None is raised: that is for whoever started this one to say.
      if (thread !== process.pid && getPriority(thread) < LAST) setPriority(thread, LAST);
    }
  } catch (error) {
    log.debug('threads of V8 keep their priority', { error });
  }
}
