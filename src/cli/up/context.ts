import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { EventLoopMetrics } from '../../server/serving/metrics/event-loop.ts';
import type { Steps } from '../output/steps.ts';
import type { Cleanup } from '../process/cleanup.ts';
import type { Settings } from './flags.ts';
import type { Inputs } from './inputs.ts';
import type { OpenPort } from './listeners/open-ports.ts';
import type { ManualClock } from './testing/cluster-clock.ts';

/** What the process gives to a start. */
export interface Environment {
  readonly steps: Steps;
  readonly cleanup: Cleanup;
  /** The clock of the cluster. */
  readonly clock: Clock;
  /** The clock of the machine, for connections and certificates: other programs check them by their own time. */
  readonly machineClock: Clock;
  /** The clock of the cluster, when its users move it. */
  readonly manual: ManualClock | undefined;
  readonly random: Random;
  readonly log: Logger;
  /** Is told what runs. */
  readonly monitor: WorkMonitor;
  /** Where blockages of event loops are counted. */
  readonly eventLoops: EventLoopMetrics;
  /** Aborted when the program is asked to stop, also during the start. */
  readonly stopSignal: AbortSignal;
}

/** What every step of a start works with, once the settings are known. */
export interface StartContext extends Environment {
  readonly settings: Settings;
  readonly inputs: Inputs;
  /** Path of the data directory. */
  readonly directory: string;
  /** Each step adds what it listens on. */
  readonly openPorts: OpenPort[];
}
