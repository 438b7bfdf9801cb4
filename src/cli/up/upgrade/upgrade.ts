/** `qd upgrade`: runs a cluster or an agent of this machine with another release. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { UpgradeRecord } from '../../../api/machine-upgrade.ts';
import { areCompatible } from '../../../api/release.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { chosenCluster } from '../../clusters/down.ts';
import { type Cluster, describe } from '../../clusters/find.ts';
import { clustersHome } from '../../flags/cluster.ts';
import { CliError, explain } from '../../output/cli-error.ts';
import { isDetached, READY, reportReady } from '../../process/background/ready.ts';
import type { UpgradeFlags } from './flags.ts';
import { removeOldReleases } from './old-releases.ts';
import { type PackagedRelease, RELEASES, releaseIn, sha256Of } from './package.ts';
import { answerForStopped } from './receiving/answer-for-stopped.ts';
import { takeUpgradeLock, writeRecord } from './record.ts';
import { type Runner, runnerOf } from './runner.ts';

export async function upgrade(file: string, flags: UpgradeFlags): Promise<void> {
  if (flags.all) return (await import('./rolling/roll.ts')).upgradeAll(file, flags);
  const cluster = await chosenCluster(flags);
  const isAskedFromElsewhere = isDetached();
  const lock = await takeUpgradeLock(cluster.directory);
  try {
    await upgradeMachine(cluster, file, flags).finally(() => lock.release());
  } catch (error) {
    if (isAskedFromElsewhere) await answerForStopped(cluster.directory, systemClock);
    throw error;
  }
}

/** Says to people what happens, and to the record of the directory. */
type Report = (change: Partial<UpgradeRecord> & { readonly message: string }) => Promise<void>;

async function upgradeMachine(cluster: Cluster, file: string, flags: UpgradeFlags): Promise<void> {
  const { version = '' } = cluster;
  const isFile = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  const sha256 = isFile ? await sha256Of(file) : undefined;
  let record: UpgradeRecord = { package: sha256, from: version, to: '', state: 'running', message: '' };
  const report: Report = async (change) => {
    record = { ...record, ...change };
    await writeRecord(cluster.directory, record);
    if (record.state !== 'rolled-back' && record.state !== 'failed') process.stdout.write(`${record.message}\n`);
  };
  try {
    await report({ message: `Installing ${file}.` });
    // To the program that has started this one, when it was asked for from elsewhere.
    reportReady(READY);
    const options = { stopTimeoutMs: flags.timeout, readyTimeoutMs: flags.readyTimeout };
    const runner = await runnerOf(cluster, options);
    const next = await nextRelease(cluster, file);
    await report({ to: next.version, message: `Stopping ${describe(cluster)} (${version}). Its pods go on running.` });
    await replaceProgram(cluster, { next, runner, report });
  } catch (error) {
    if (record.state === 'running') await report({ state: 'failed', message: explain(error) });
    throw error;
  }
}

async function nextRelease(cluster: Cluster, file: string): Promise<PackagedRelease> {
  const { version = '' } = cluster;
  const next = await releaseIn(file, join(clustersHome(), RELEASES));
  if (version === '' || areCompatible(version, next.version)) return next;
  throw new CliError(
    `${describe(cluster)} runs with ${version}, and the package is ${next.version}: go one minor version at a time`,
  );
}

interface Replacement {
  readonly next: PackagedRelease;
  readonly runner: Runner;
  readonly report: Report;
}

/** Rejects when the former release runs again. */
async function replaceProgram(cluster: Cluster, { next, runner, report }: Replacement): Promise<void> {
  const { version = '' } = cluster;
  const what = describe(cluster);
  await runner.stop();
  await report({ message: `Starting it with ${next.version}.` });
  if (await runner.start(next.program)) {
    const done = what.charAt(0).toUpperCase() + what.slice(1);
    await report({ state: 'succeeded', message: `${done} runs with ${next.version}, from ${next.program}.` });
    const kept = [next.program, runner.former];
    await removeOldReleases({ folder: join(clustersHome(), RELEASES), kept, now: systemClock.now() }).catch((error) =>
      process.stderr.write(`qd: old releases were not removed: ${explain(error)}\n`),
    );
    return;
  }
  // It goes on although it is not ready, when it waits for nodes.
  await runner.stop();
  await report({ message: `${next.version} did not become ready. Starting ${version} again.` });
  const isBack = await runner.start();
  const state = isBack ? `${what} runs with ${version} as before` : `${version} did not become ready either`;
  const message = `the upgrade to ${next.version} failed; ${state}`;
  await report({ state: isBack ? 'rolled-back' : 'failed', message });
  throw new CliError(message);
}
