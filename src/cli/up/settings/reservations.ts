/**
 * Ports and ranges of the clusters that run or start on this machine. A start chooses and reserves under a lock, so that two
 * starts at once do not choose the same. A reservation is a file that names its process: it ends with it.
 */

import { readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeEmptyDirectories } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { type ProcessIdentity, processIdentity } from '../../../base/programs/process-identity.ts';
import { LockHeld, type ProcessLock, takeProcessLock } from '../../../base/programs/process-lock.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Taken } from './free.ts';

const LOCK = 'lock';
const SUFFIX = '.json';
const LOCK_RETRY_MS = 10;
const LOCK_TIMEOUT_MS = 15_000;

export interface Reserved extends Taken {
  readonly directory: string;
  readonly pid: number;
}

interface Content extends Taken {
  readonly directory: string;
  readonly holder: ProcessIdentity;
  /** Ports and addresses are those of one network namespace. */
  readonly network: string;
}

export interface Reservation<T> {
  readonly chosen: T;
  /** Resolves with what others had reserved before, and still have. */
  earlier(): Promise<readonly Reserved[]>;
  release(): Promise<void>;
}

export interface ReservationOptions {
  readonly folder: string;
  /** The data directory of the cluster. */
  readonly directory: string;
  readonly clock: Clock;
}

/**
 * Calls `choose` with what others have reserved, while nobody else chooses, and reserves the result. Reserves nothing where
 * the folder cannot be written.
 */
export async function reserve<T extends Taken>(
  { folder, directory, clock }: ReservationOptions,
  choose: (others: readonly Reserved[]) => Promise<T>,
): Promise<Reservation<T>> {
  const locked = await lockFolder(folder, clock);
  if (!locked) return { chosen: await choose([]), earlier: async () => [], release: async () => {} };
  const { lock, created } = locked;
  const file = join(folder, `${process.pid}-${++reservations}${SUFFIX}`);
  const release = async () => {
    await rm(file, { force: true });
    if (created !== undefined) await removeEmptyDirectories(folder, created);
  };
  const chooseAlone = async (): Promise<Reservation<T>> => {
    const network = await networkNamespace();
    const list = async () => (await reservationsIn(folder, network)).filter((other) => other.directory !== directory);
    const others = await list();
    const chosen = await choose(others);
    const { port, serviceClusterIpRange, clusterCidr, runtime, nodes, store } = chosen;
    const taken = { directory, port, serviceClusterIpRange, clusterCidr, runtime, nodes, store };
    const draft = `${file}.tmp`;
    await writeFile(draft, JSON.stringify({ ...taken, network, holder: await processIdentity(process.pid) }));
    await rename(draft, file);
    const isEarlier = (other: Listed) => others.some(({ file: known }) => known === other.file);
    return { chosen, earlier: async () => (await list()).filter(isEarlier), release };
  };
  try {
    return await chooseAlone().finally(() => lock.release());
  } catch (error) {
    await release();
    throw error;
  }
}

/** Makes the names of files unique within the process. */
let reservations = 0;

interface Locked {
  readonly lock: ProcessLock;
  /** The first folder that was created; undefined: all existed. */
  readonly created: string | undefined;
}

/** Errors of a home that cannot be written, or that is none. */
const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'];

/** Waits while other starts choose. Undefined where the folder cannot be written. */
async function lockFolder(folder: string, clock: Clock): Promise<Locked | undefined> {
  const deadline = clock.now() + LOCK_TIMEOUT_MS;
  let created: string | undefined;
  for (;;) {
    try {
      created = (await makeDirectories(folder, 0o700)) ?? created;
      return { lock: await takeProcessLock({ path: join(folder, LOCK), subject: folder }), created };
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (NOT_WRITABLE.includes(code)) return undefined;
      // A start that ends removes the folder when it is empty.
      const isRemoved = code === 'ENOENT';
      if (!isRemoved && !(error instanceof LockHeld)) throw error;
      if (clock.now() > deadline) {
        throw new CliError(
          error instanceof LockHeld
            ? `process ${error.pid} has been choosing ports and ranges for more than ${LOCK_TIMEOUT_MS / 1_000} s; stop it, or wait for it`
            : `${folder} cannot be created`,
          { cause: error },
        );
      }
      await sleep(clock, LOCK_RETRY_MS);
    }
  }
}

interface Listed extends Reserved {
  readonly file: string;
}

/** Removes those of processes that have ended. */
async function reservationsIn(folder: string, network: string): Promise<readonly Listed[]> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith(SUFFIX));
  const found = await Promise.all(
    names.map(async (file): Promise<readonly Listed[]> => {
      const content = await readFile(join(folder, file), 'utf8').then(parse, () => undefined);
      if (content && (await isAlive(content.holder))) {
        const { holder, network: its, ...taken } = content;
        return its === network ? [{ ...taken, pid: holder.pid, file }] : [];
      }
      await rm(join(folder, file), { force: true });
      return [];
    }),
  );
  return found.flat();
}

/** Returns undefined when the file is not a reservation. */
function parse(text: string): Content | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, boot, started }: ProcessIdentity): Promise<boolean> {
  const now = await processIdentity(pid);
  return now.started !== '' && now.boot === boot && now.started === started;
}

/** Empty where there are none. */
const networkNamespace = () => readlink('/proc/self/ns/net').catch(() => '');
