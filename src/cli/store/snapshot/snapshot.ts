/** `qd snapshot`: works on the data directory; a running cluster goes on while it is read. */
import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { moveAside } from '../../../base/files/own/move-aside.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { directoryOf } from '../../clusters/choice.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { explainDamage } from '../../output/store-damage.ts';
import { withCluster } from '../../process/cluster-process.ts';
import { checkNewFile } from '../../process/writable.ts';
import { checkArchive, unpack, writeArchive } from './archive.ts';
import { checkIntact } from './damage.ts';
import type { RestoreFlags } from './flags.ts';
import { exists, print, snapshotsOf } from './store.ts';

const now = () => new Date(systemClock.now()).toISOString();

export async function saveSnapshot(file: string, flags: ClusterFlags): Promise<void> {
  const directory = await directoryOf(flags);
  const snapshots = await snapshotsOf(directory);
  const source = snapshots.path;
  if (!(await exists(source))) {
    throw new CliError(`${source} does not exist: there is no cluster to save; choose one with --name or --data-dir`);
  }
  await checkNewFile('the snapshot', file);
  const target = resolve(file);
  // On the file system of the file, which needs room for it anyway.
  const scratch = await mkdtemp(join(dirname(target), '.snapshot-'));
  try {
    const { revision, file: data } = await snapshots.copy(source, join(scratch, 'store')).catch(explainDamage);
    const { bytes, sha256 } = await writeArchive(target, data, { revision, time: now() });
    print(`${file}: revision ${revision}, ${bytes} bytes, sha256 ${sha256}`);
    print('Secrets in it are encrypted; back up DIR/encryption.key and DIR/pki separately.');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export async function restoreSnapshot(file: string, flags: RestoreFlags): Promise<void> {
  const directory = await directoryOf(flags);
  if (!(await exists(directory))) {
    throw new CliError(`${directory} does not exist; create it, with pki and encryption.key of the cluster in it`);
  }
  const snapshots = await snapshotsOf(directory);
  const { start } = await checkArchive(file);
  checkIntact(file, await snapshots.checkFile(file, start));
  await withCluster(directory, async (pid) => {
    if (pid !== undefined) throw new CliError(`the cluster is running as process ${pid}; stop it first`);
    const store = snapshots.path;
    const isThere = await exists(store);
    if (isThere && !flags.force) throw new CliError(`${store} has objects; use --force to replace them`);
    const next = `${store}.next`;
    await rm(next, { recursive: true, force: true });
    const revision = await filled(next).catch(async (error) => {
      await rm(next, { recursive: true, force: true });
      throw error;
    });
    const before = await moveAside(store, systemClock);
    await rename(next, store);
    const kept = before ? `; the replaced objects are in ${before}` : '';
    print(`restored ${file}; the next start continues at revision ${revision}${kept}`);
  });

  /** Returns the revision that the store continues at. */
  async function filled(store: string): Promise<number> {
    await fill(await snapshots.create(store), file, start);
    return (await snapshots.resume(store)).revision;
  }
}

async function fill(dataFile: string, archive: string, start: number): Promise<void> {
  const data = await open(dataFile, 'wx', 0o600);
  try {
    await unpack(archive, start, data);
  } finally {
    await data.close();
  }
}
