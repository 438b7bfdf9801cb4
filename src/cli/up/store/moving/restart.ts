/** The start of a cluster again, in the same process, after its objects were moved. */
import type { Cleanup } from '../../../../assembly/cleanup.ts';
import type { ProcessLock } from '../../../../base/programs/process-lock.ts';

export interface Restart {
  /** Stops the member of etcd that runs already; undefined: the start starts what it needs. */
  readonly runningMember: Cleanup | undefined;
  /** Called when the cluster has stopped. */
  afterStop(): Promise<void>;
}

/** The lock of the data directory, which is held from one start to the next. */
export interface HeldLock {
  /** True while the lock is not to be released. */
  isKept: boolean;
  lock: ProcessLock | undefined;
}
