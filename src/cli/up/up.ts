/** `qd up`: starts the cluster, waits for a signal, and stops it. */

import { Cleanup } from '../../assembly/cleanup.ts';
import type { UnreadyNode } from '../../assembly/cluster-nodes/nodes-ready.ts';
import { manualClock } from '../../assembly/test-facilities/manual-clock.ts';
import { monitoredClock, Watchdog } from '../../base/event-loop/watchdog.ts';
import type { Logger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { EventLoopMetrics } from '../../server/serving/metrics/event-loop.ts';
import { createLogger } from '../output/logger.ts';
import { oneLine } from '../output/one-line.ts';
import { createSteps } from '../output/steps.ts';
import { explainDamage } from '../output/store-damage.ts';
import { NODES_NOT_READY, READY, reportReady } from '../process/background/ready.ts';
import { onRotated, ROTATED_SIGNAL, untilStopSignal } from '../process/signals.ts';
import { type GivenFlags, notRemembered } from './settings/settle.ts';
import { start } from './start/start.ts';
import { Moves } from './store/moving/moves.ts';
import type { HeldLock } from './store/moving/restart.ts';

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
  const stopping = new AbortController();
  const stopSignal = stopping.signal;
  const steps = createSteps(process.stdout, () => performance.now(), stopSignal);
  const cleanup = new Cleanup();
  process.on('uncaughtException', (error) => {
    log.error('uncaught exception', { error });
    process.exit(1);
  });
  // Node would open a debugger for every user of the machine by default.
  process.on('SIGUSR1', () => log.warn('there is no debugger to open'));
  // Handlers are added later in the start; without one, the signal would end the process.
  process.on(ROTATED_SIGNAL, () => undefined);
  const signalled = untilStopSignal(systemClock).then((signal) => {
    stopping.abort(new Error(`stopped by ${signal}`));
    return signal;
  });
  const { clock: machineClock, ...monitoring } = watched(log);
  const manual = flags.clock === 'manual' ? manualClock(machineClock) : undefined;
  const clocks = { clock: manual?.clock ?? machineClock, machineClock, manual };
  const tools = { log, random: systemRandom, ...clocks };
  const lock: HeldLock = { isKept: false, lock: undefined };
  const moves = new Moves(log);
  let given = flags;
  let runningMember: Cleanup | undefined;
  let stop: NodeJS.Signals | undefined;
  while (stop === undefined) {
    let unready: readonly UnreadyNode[];
    try {
      const machine = { path: process.env.PATH ?? '', onRotated, openPorts: [] };
      const environment = { steps, cleanup, stopSignal, ...tools, ...monitoring, ...machine };
      const starting = start(given, { ...environment, moves, lock, runningMember });
      unready = await unlessStopped(starting, stopSignal);
    } catch (error) {
      await cleanup
        .run()
        .catch((failure: unknown) => log.error('clean-up after a failed start failed', { error: failure }));
      // Errors after the signal come from the stop itself.
      if (!stopSignal.aborted) explainDamage(error);
      steps.line(`\nStopped on ${await signalled}, before the cluster was ready.`);
      return endSoon(log);
    }
    for (const { name, reason } of unready) process.stderr.write(`qd: ${describeUnready(name, reason)}\n`);
    reportReady(unready.length > 0 ? NODES_NOT_READY : READY);
    const next = await Promise.race([signalled, moves.ready()]);
    if (typeof next === 'string') stop = next;
    else {
      steps.line('\nThe objects were moved to another store. Starting again on it.');
      lock.isKept = true;
      await cleanup.run().catch((error: unknown) => log.error('the stop before another start failed', { error }));
      lock.isKept = false;
      await next.afterStop();
      ({ runningMember } = next);
      // A cluster is joined once.
      given = { ...notRemembered(flags), join: undefined, token: undefined, caHash: undefined };
    }
  }
  const signal = stop;
  await moves.close();
  log.info('stopping', { signal });
  steps.line(`\nStopping on ${signal}. A second Ctrl-C stops at once.`);
  await cleanup.run();
  log.info('stopped');
  steps.line('Stopped.');
  endSoon(log);
}

/** How long a step of the start may go on after the signal to stop. */
const MAX_STEP_AFTER_STOP_MS = 2_000;

/** Rejects soon after the signal, also when a step of the start hangs. */
function unlessStopped<T>(starting: Promise<T>, signal: AbortSignal): Promise<T> {
  const abandoned = new Promise<never>((_, reject) => {
    const abandon = () => setTimeout(() => reject(signal.reason), MAX_STEP_AFTER_STOP_MS).unref();
    signal.addEventListener('abort', abandon, { once: true });
  });
  return Promise.race([starting, abandoned]);
}

function describeUnready(name: string, reason: string): string {
  return oneLine(
    `node "${name}" is not ready: ${reason}; the cluster goes on trying, see kubectl describe node ${name}`,
  );
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
