/** `qd backup verify`: reads a whole backup, and starts it as a cluster in memory. */
import { rm } from 'node:fs/promises';
import { Cleanup } from '../../../assembly/cleanup.ts';
import { BackupDamaged } from '../../../backup/file/format.ts';
import { listBackups } from '../../../backup/keeping/cluster-backups.ts';
import { readState, type SavedState } from '../../../backup/restoring/state.ts';
import { CliError, explain } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import { backupLocation, explained, openBackupTarget, unsealWith } from '../../up/store/backups/targets.ts';
import { scratchDirectory } from '../../up/upgrade/preview/scratch.ts';
import { type BackedUpCluster, clusterOf } from './cluster.ts';
import type { VerifyFlags } from './flags.ts';
import { type BackupReport, reportLines } from './report.ts';
import { type BackupSource, contentOf, inFile, inTarget, isFile } from './sources.ts';

/** Ends the process: timers of the cluster in memory would keep it. */
export async function verify(backup: string | undefined, flags: VerifyFlags): Promise<void> {
  const { source, cluster } = await sourceOf(backup, flags);
  const keys = {
    passphraseFile: flags.passphraseFile ?? cluster?.settings.backupPassphraseFile,
    identityFile: flags.identity,
  };
  const unseal = await unsealWith(keys, (problem) => process.stderr.write(`qd: ${problem}\n`));
  const state = await readState(contentOf(source, unseal)).catch((cause: unknown) => {
    throw cause instanceof BackupDamaged ? new CliError(`${source.name}: ${cause.message}`, { cause }) : cause;
  });
  const report = await reportOn(source, state);
  print(...(flags.json ? [JSON.stringify(report, undefined, 2)] : reportLines(report)));
  process.exitCode = report.isUsable ? 0 : 1;
  process.stdout.end(() => process.exit());
}

interface Found {
  readonly source: BackupSource;
  readonly cluster: BackedUpCluster | undefined;
}

/** A name is looked for at the target of the cluster; anything that is a file is one. */
async function sourceOf(backup: string | undefined, flags: VerifyFlags): Promise<Found> {
  if (backup !== undefined && (await isFile(backup))) return { source: inFile(backup), cluster: undefined };
  const cluster = flags.from === undefined ? await clusterOf(flags) : undefined;
  const target = await openBackupTarget(flags.from ?? backupLocation(cluster!.settings, cluster!.directory));
  const backups = await listBackups(target, cluster?.name).catch((error: unknown) => {
    throw explained(error);
  });
  const found = backup === undefined ? backups.at(-1) : backups.find(({ name }) => name === backup);
  if (found) return { source: inTarget(target, found.name), cluster };
  if (backup === undefined) throw new CliError(`there are no backups in ${target.name}; qd backup now takes one`);
  throw new CliError(`${backup} is neither a file nor a backup in ${target.name}; qd backup ls lists those`);
}

async function reportOn({ name }: BackupSource, state: SavedState): Promise<BackupReport> {
  const { about, end, rows } = state;
  const base = { name, about, changes: end.changes, objects: rows.length, damaged: end.damaged };
  const scratch = await scratchDirectory();
  const cleanup = new Cleanup();
  try {
    const { startSaved } = await import('./start-saved.ts');
    const started = await startSaved(state, scratch, cleanup);
    const isUsable = end.damaged.length === 0 && started.unreadable.length === 0;
    return { ...base, ...started, problem: undefined, isUsable };
  } catch (error) {
    return { ...base, kinds: [], unreadable: [], secondsToReady: undefined, problem: explain(error), isUsable: false };
  } finally {
    await cleanup.run().catch(() => undefined); // The process ends.
    await rm(scratch, { recursive: true, force: true });
  }
}
