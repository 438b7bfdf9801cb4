/** `qd up`: starts the cluster, waits for a signal, and stops it. */

import { monitoredClock, Watchdog } from '../../base/event-loop/watchdog.ts';
import type { Logger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { EventLoopMetrics } from '../../server/serving/metrics/event-loop.ts';
import { createLogger } from '../output/logger.ts';
import { createSteps } from '../output/steps.ts';
import { explainDamage } from '../output/store-damage.ts';
import { Cleanup } from '../process/cleanup.ts';
import { ROTATED_SIGNAL, untilStopSignal } from '../process/signals.ts';
import { reportReady } from './detach/ready.ts';
import type { GivenFlags } from './settings/settle.ts';
import { start } from './start.ts';
import { manualClock } from './testing/cluster-clock.ts';

/** A watchdog that reports what blocks this thread, and a clock whose timers it sees. */
function watched(log: Logger) {
  const eventLoops = new EventLoopMetrics(log);
  const monitor = new Watchdog({
    clock: systemClock,
    onBlocked: (work, milliseconds) =>
      eventLoops.add({ thread: 'api', work: work.work, milliseconds, fields: work.describe() }),
  });
  return { eventLoops, monitor, clock: monitoredClock(systemClock, monitor) };
}

export async function up(flags: GivenFlags): Promise<void> {
  const log = createLogger(flags.logLevel ?? (process.stderr.isTTY ? 'warn' : 'info'));
  const steps = createSteps(process.stdout, () => performance.now());
  const cleanup = new Cleanup();
  process.on('uncaughtException', (error) => {
    log.error('uncaught exception', { error });
    process.exit(1);
  });
  // By default, Node would open a debugger for every user of the machine.
  process.on('SIGUSR1', () => log.warn('there is no debugger to open'));
  // Handlers are added later in the start; without one, the signal would end the process.
  process.on(ROTATED_SIGNAL, () => undefined);
  const signalled = untilStopSignal(systemClock);
  try {
    const { clock: machineClock, ...monitoring } = watched(log);
    const manual = manualClock(flags, machineClock);
    const clocks = { clock: manual?.clock ?? machineClock, machineClock, manual };
    await start(flags, { steps, cleanup, log, ...monitoring, ...clocks, random: systemRandom });
  } catch (error) {
    await cleanup
      .run()
      .catch((failure: unknown) => log.error('clean-up after a failed start failed', { error: failure }));
    explainDamage(error);
  }
  reportReady();
  const signal = await signalled;
  log.info('stopping', { signal });
  steps.line(`\nStopping on ${signal}. A second Ctrl-C stops at once.`);
  await cleanup.run();
  log.info('stopped');
  steps.line('Stopped.');
  endSoon(log);
}

const MAX_LEFTOVER_MS = 2_000;

/** Ends the process although something keeps it alive, such as a connection whose other end does not answer any more. */
function endSoon(log: Logger): void {
  const end = () => {
    log.warn('ended what was left after the stop', { resources: process.getActiveResourcesInfo() });
    process.exit();
  };
  setTimeout(end, MAX_LEFTOVER_MS).unref();
}
