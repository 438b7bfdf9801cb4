/** Runs the federation API server until it is told to stop. */

import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { logLevelOf } from '../../flags/verbosity.ts';
import { createLogger } from '../../output/logger.ts';
import { Cleanup } from '../../process/cleanup.ts';
import { untilStopSignal } from '../../process/signals.ts';
import type { FederationServerFlags } from './flags.ts';
import { startFederationServer } from './start.ts';

export async function runFederationServer(flags: FederationServerFlags): Promise<void> {
  const log = createLogger(logLevelOf(flags));
  const cleanup = new Cleanup();
  const signalled = untilStopSignal(systemClock);
  try {
    const { server } = await startFederationServer(flags, { clock: systemClock, random: systemRandom, log, cleanup });
    log.info('ready', { server });
    log.info('stopping', { signal: await signalled });
  } finally {
    await cleanup.run();
  }
}
