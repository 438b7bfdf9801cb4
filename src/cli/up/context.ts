import type { Cleanup } from '../../assembly/cleanup.ts';
import type { Environment as AssemblyEnvironment } from '../../assembly/context.ts';
import type { ManualClock } from '../../assembly/test-facilities/manual-clock.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import type { EventLoopMetrics } from '../../server/serving/metrics/event-loop.ts';
import type { Steps } from '../output/steps.ts';
import type { Settings } from './flags.ts';
import type { Inputs } from './start/inputs.ts';
import type { Moves } from './store/moving/moves.ts';
import type { HeldLock } from './store/moving/restart.ts';

/** Resources that the process gives to a start. */
export interface Environment extends AssemblyEnvironment {
  readonly steps: Steps;
  /** The clock of the cluster, when its users move it. */
  readonly manual: ManualClock | undefined;
  /** Is told what runs. */
  readonly monitor: WorkMonitor;
  /** Where blockages of event loops are counted. */
  readonly eventLoops: EventLoopMetrics;
  /** Moves the store while the cluster runs. */
  readonly moves: Moves;
  /** The lock of the data directory, when an earlier start of this process has kept it. */
  readonly lock: HeldLock;
  /** Stops the member of etcd that runs already. */
  readonly runningMember: Cleanup | undefined;
  /** Aborted when the program is asked to stop, also during the start. */
  readonly stopSignal: AbortSignal;
}

/** Context of every step of a start, once the settings are known. */
export interface StartContext extends Environment {
  readonly settings: Settings;
  readonly inputs: Inputs;
  /** Path of the data directory. */
  readonly directory: string;
}
