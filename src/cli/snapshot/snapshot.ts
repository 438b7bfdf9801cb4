/** `qd snapshot`: works on the data directory; a running cluster goes on while it is read. */
import { mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { continueFrom, copyStore, newStore } from '../../store/embedded/snapshot.ts';
import { CliError } from '../output/cli-error.ts';
import { type ClusterFlags, directoryOf, withCluster } from '../process/cluster-process.ts';
import { checkArchive, unpack, writeArchive } from './archive.ts';
import type { RestoreFlags } from './flags.ts';

const storeIn = (flags: ClusterFlags) => join(directoryOf(flags), 'store');
const now = () => new Date(systemClock.now()).toISOString();

export async function saveSnapshot(file: string, flags: ClusterFlags): Promise<void> {
  const source = storeIn(flags);
  if (!(await exists(source))) throw noStore(source);
  const target = resolve(file);
  // Beside the file, where there must be room for it anyway.
  const work = await mkdtemp(join(dirname(target), '.snapshot-'));
  try {
    const copy = join(work, 'store');
    const { revision } = await copyStore(source, copy);
    const { bytes, sha256 } = await writeArchive(target, join(copy, 'data.mdb'), { revision, time: now() });
    say(`${file}: revision ${revision}, ${bytes} bytes, sha256 ${sha256}`);
    say('Secrets in it are encrypted; keep DIR/encryption.key and DIR/pki in another safe place.');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

export async function checkSnapshot(file: string): Promise<void> {
  const { revision, time, bytes, sha256 } = await checkArchive(file);
  say(`${file}: whole; revision ${revision} of ${time}, ${bytes} bytes, sha256 ${sha256}`);
}

export async function restoreSnapshot(file: string, flags: RestoreFlags): Promise<void> {
  const directory = directoryOf(flags);
  if (!(await exists(directory))) {
    throw new CliError(`${directory} does not exist; make it, with the pki and encryption.key of the cluster in it`);
  }
  const { start } = await checkArchive(file);
  await withCluster(flags, async (pid) => {
    if (pid !== undefined) throw new CliError(`stop the cluster (process ${pid}) first`);
    const store = storeIn(flags);
    const there = await exists(store);
    if (there && !flags.force) throw new CliError(`${store} holds objects; --force puts the snapshot in their place`);
    const next = join(directory, 'store.next');
    await rm(next, { recursive: true, force: true });
    await fill(next, file, start);
    const { revision } = await continueFrom(next);
    const before = join(directory, `store.before-${now().replace(/[:.]/g, '-')}`);
    if (there) await rename(store, before);
    await rename(next, store);
    say(
      `restored ${file}; the next start goes on at revision ${revision}${there ? `; what was there is in ${before}` : ''}`,
    );
  });
}

async function fill(directory: string, file: string, start: number): Promise<void> {
  const data = await open(await newStore(directory), 'wx', 0o600);
  try {
    await unpack(file, start, data);
  } finally {
    await data.close();
  }
}

function noStore(path: string): CliError {
  return new CliError(
    `${path} does not exist: there is no embedded store here (on etcd, etcdctl snapshot does this); name a cluster with --name or --data-dir`,
  );
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
