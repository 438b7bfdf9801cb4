/** `qd up`: starts the cluster, waits for a signal, and stops it. */
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createLogger } from '../output/logger.ts';
import { createSteps } from '../output/steps.ts';
import { Cleanup } from '../process/cleanup.ts';
import { untilSignal } from '../process/signals.ts';
import type { UpFlags } from './flags.ts';
import { ROTATED } from './identity/renewing.ts';
import { start } from './start.ts';

export async function up(flags: UpFlags): Promise<void> {
  const log = createLogger(flags.logLevel ?? (process.stderr.isTTY ? 'warn' : 'info'));
  const steps = createSteps(process.stdout, () => performance.now());
  const cleanup = new Cleanup();
  // Whoever read the start may have gone; the cluster goes on.
  process.stdout.on('error', () => {});
  process.on('uncaughtException', (error) => {
    log.error('an error that nobody caught', { error });
    process.exit(1);
  });
  // Node would open a debugger to everybody on the machine.
  process.on('SIGUSR1', () => log.warn('there is no debugger to open'));
  // Whoever listens to it does so later in the start; until then it must not end the program.
  process.on(ROTATED, () => undefined);
  const signalled = untilSignal();
  try {
    await start({ flags, steps, cleanup, log, clock: systemClock, random: systemRandom });
  } catch (error) {
    await cleanup
      .run()
      .catch((another: unknown) => log.error('what was started could not be stopped', { error: another }));
    throw error;
  }
  const signal = await signalled;
  log.info('stopping', { signal });
  steps.line(`\nStopping on ${signal}. Once more stops at once.`);
  await cleanup.run();
  log.info('stopped');
  steps.line('Stopped.');
}
