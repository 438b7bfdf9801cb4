/** Waits until a service is ready. */
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { clustersHome } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { findCluster } from '../find.ts';
import { stateOf } from './systemctl.ts';
import { isOfSystem, type Unit } from './units.ts';

const CHECK_MS = 250;

interface WaitOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Rejects when the unit has failed, or the process that it runs is not ready in time. */
export async function untilReady(unit: Unit, { clock, timeoutMs }: WaitOptions): Promise<void> {
  for (const deadline = clock.now() + timeoutMs; clock.now() < deadline; await sleep(clock, CHECK_MS)) {
    const { active, pid } = await stateOf(unit.unit);
    if (active === 'failed') throw new CliError(`${unit.unit} has failed; see ${logCommand(unit)}`);
    const found = await findCluster(unit.directory, clustersHome());
    if (found?.state === 'running' && found.pid === pid) return;
  }
  throw new CliError(`${unit.unit} is not ready yet; it goes on trying, see ${logCommand(unit)}`);
}

export const logCommand = ({ unit }: Unit) => `journalctl ${isOfSystem() ? '' : '--user '}-u ${unit}`;
