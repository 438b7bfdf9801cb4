import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Connection } from '../calls/connection.ts';
import { cri } from '../calls/methods.ts';
import { cniConfiguration, cniFile } from './cni.ts';

interface NetworkOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly name: string;
  readonly hasIptables: boolean;
  /**
   * Folder from which the runtime reads CNI configurations; undefined: it does not say, and configures its network
   * itself.
   */
  readonly folder: string | undefined;
  /** Directory in which host-local keeps the addresses in use. */
  readonly cniAddresses: string;
}

const READY_TIMEOUT_MS = 5000;
const POLL_MS = 20;

/** Writes the CNI configuration of the node, unless there is another one. Returns whether pods use that of the node. */
export async function writeNetwork(options: NetworkOptions, podCIDRs: readonly string[]): Promise<boolean> {
  const { name, hasIptables, folder, cniAddresses } = options;
  if (folder === undefined) return false;
  await makeDirectories(folder);
  const own = cniFile(name);
  const others = (await readdir(folder)).filter((file) => /\.(conf|conflist|json)$/.test(file) && file !== own);
  if (others.length > 0) return false;
  const text = cniConfiguration({ name, podCIDRs, addresses: cniAddresses, hasIptables });
  const before = await readFile(join(folder, own), 'utf8').catch(() => undefined);
  if (before !== text) {
    // containerd watches the folder, and must not read half of it.
    await writeFile(join(folder, `${own}.tmp`), text);
    await rename(join(folder, `${own}.tmp`), join(folder, own));
  }
  await untilReady(options);
  return true;
}

/** Waits until containerd has read a new file, which takes milliseconds. `health` reports errors in the file. */
async function untilReady({ connection, clock }: Pick<NetworkOptions, 'connection' | 'clock'>): Promise<void> {
  for (const deadline = clock.now() + READY_TIMEOUT_MS; clock.now() < deadline; ) {
    const { status } = await connection.call(cri.status, {});
    if (status?.conditions.some(({ type, status: isMet }) => type === 'NetworkReady' && isMet)) return;
    await sleep(clock, POLL_MS);
  }
}
