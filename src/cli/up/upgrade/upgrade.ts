/** `qd upgrade`: runs a cluster with another release. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { areCompatible } from '../../../api/release.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { chosenCluster } from '../../clusters/down.ts';
import { readLastStart } from '../../clusters/last-start.ts';
import { installedUnits } from '../../clusters/service/units.ts';
import { stopCluster } from '../../clusters/stop.ts';
import { clustersHome } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { findClusterProcess } from '../../process/cluster-process.ts';
import type { UpgradeFlags } from './flags.ts';
import { releaseIn } from './package.ts';
import { type StartedAs, startedAs } from './running.ts';

/** Below the directories of clusters, as a name that no cluster has. */
const RELEASES = '.releases';

export async function upgrade(file: string, flags: UpgradeFlags): Promise<void> {
  const { directory, kind, name } = await chosenCluster(flags);
  if (kind !== 'cluster')
    throw new CliError(`${directory} is that of an agent: install the release, and start it again`);
  const running = await runningIn(directory);
  const { version = '' } = (await readLastStart(directory)) ?? {};
  const next = await releaseIn(file, join(clustersHome(), RELEASES));
  if (version !== '' && !areCompatible(version, next.version)) {
    throw new CliError(
      `cluster "${name}" runs with ${version}, and the package is ${next.version}: go one minor version at a time`,
    );
  }
  const stop = () => stopCluster({ directory, timeoutMs: flags.timeout, clock: systemClock });
  say(`Stopping cluster "${name}" (${version}). Its pods go on running.`);
  await stop();
  say(`Starting it with ${next.version}.`);
  const code = await startInBackground({ ...running, program: next.program });
  if (code === 0) return say(`Cluster "${name}" runs with ${next.version}, from ${next.program}.`);
  // It goes on although it is not ready, when it waits for nodes.
  await stop();
  say(`${next.version} did not become ready. Starting ${version} again.`);
  const back = await startInBackground(running);
  const state =
    back === 0 ? `cluster "${name}" runs with ${version} as before` : `${version} did not become ready either`;
  throw new CliError(`the upgrade to ${next.version} failed; ${state}`);
}

async function runningIn(directory: string): Promise<StartedAs> {
  const unit = (await installedUnits()).find((each) => each.directory === directory);
  if (unit) {
    throw new CliError(
      `${unit.unit} runs the cluster: install the release, and run qd service install up with it again`,
    );
  }
  const holder = await findClusterProcess(directory);
  if (holder) return startedAs(holder.pid);
  throw new CliError('the cluster is not running: install the release, and start the cluster with it');
}

/** Resolves with the exit code of a start, which is 0 when the cluster is ready. Its output is shown. */
async function startInBackground({ program, args, cwd, env }: StartedAs): Promise<number> {
  const child = spawn(process.execPath, [program, ...args, '--detach'], { cwd, env, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
