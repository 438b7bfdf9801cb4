/** `qd snapshot check`: verifies a data directory or a snapshot, and names what is damaged. */
import { stat } from 'node:fs/promises';
import { defaultStore, storeDriver } from '../../../store/drivers.ts';
import { directoryOf } from '../../clusters/choice.ts';
import { CliError } from '../../output/cli-error.ts';
import { explainDamage, TO_DELETE } from '../../output/store-damage.ts';
import { withCluster } from '../../process/cluster-process.ts';
import { checkArchive, readHeader } from './archive.ts';
import { checkIntact, list } from './damage.ts';
import type { CheckFlags } from './flags.ts';
import { exists, print, snapshotsOf } from './store.ts';

export async function check(path: string | undefined, flags: CheckFlags): Promise<void> {
  if (path !== undefined && !(await exists(path))) throw new CliError(`${path} does not exist`);
  const isFile = path !== undefined && (await stat(path)).isFile();
  if (!isFile) return checkCluster({ ...flags, dataDir: path ?? flags.dataDir });
  if (flags.deleteDamaged)
    throw new CliError('--delete-damaged is for the data directory of a cluster, not for a snapshot');
  await checkSnapshot(path);
}

async function checkCluster(flags: CheckFlags): Promise<void> {
  const directory = await directoryOf(flags);
  const snapshots = await snapshotsOf(directory);
  const store = snapshots.path;
  if (!(await exists(store))) {
    throw new CliError(`${store} does not exist: there is no cluster to check; choose one with --name or --data-dir`);
  }
  if (flags.deleteDamaged) await deleteDamaged(directory, () => snapshots.deleteDamaged(store));
  const report = await snapshots.check(store).catch(explainDamage);
  list(report);
  checkIntact(directory, report, TO_DELETE);
  print(`${directory}: undamaged; revision ${report.revision}, ${report.keys} keys`);
}

async function deleteDamaged(directory: string, work: () => Promise<readonly string[]>): Promise<void> {
  await withCluster(directory, async (pid) => {
    if (pid !== undefined) throw new CliError(`the cluster is running as process ${pid}; stop it first`);
    for (const key of await work().catch(explainDamage)) print(`deleted: ${key}`);
  });
}

async function checkSnapshot(file: string): Promise<void> {
  const { snapshots } = storeDriver(defaultStore);
  if ('instead' in snapshots) throw new Error('the default store has no snapshots');
  const { start } = await readHeader(file);
  const [archive, objects] = await Promise.allSettled([checkArchive(file), snapshots.checkFile(file, start)]);
  // The checksum of the file tells that it is damaged; the objects tell where.
  if (objects.status === 'fulfilled') list(objects.value);
  if (archive.status === 'rejected') throw archive.reason;
  if (objects.status === 'rejected') throw objects.reason;
  checkIntact(file, objects.value);
  const { revision, time, bytes, sha256 } = archive.value;
  print(`${file}: complete; revision ${revision} of ${time}, ${bytes} bytes, sha256 ${sha256}`);
}
