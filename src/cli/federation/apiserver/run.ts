/** Runs the federation API server until it is told to stop. */

import { Cleanup } from '../../../assembly/cleanup.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { logLevelOf } from '../../flags/verbosity.ts';
import { createLogger } from '../../output/logger.ts';
import { untilStopSignal } from '../../process/signals.ts';
import type { FederationServerFlags } from './flags.ts';
import { startFederationServer } from './start.ts';

export async function runFederationServer(flags: FederationServerFlags): Promise<void> {
  const log = createLogger(logLevelOf(flags));
  const cleanup = new Cleanup();
  const stop = new AbortController();
  const signalled = untilStopSignal(systemClock).then((name) => {
    stop.abort();
    return name;
  });
  const { signal } = stop;
  const environment = { clock: systemClock, random: systemRandom, log, cleanup, signal };
  try {
    const { server } = await startFederationServer(flags, environment);
    log.info('ready', { server });
    log.info('stopping', { signal: await signalled });
  } catch (error) {
    if (!signal.aborted) throw error;
    log.info('stopped during the start', { signal: await signalled });
  } finally {
    stop.abort();
    await cleanup.run();
  }
}
