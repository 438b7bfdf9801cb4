import { createHash } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Connection } from '../calls/connection.ts';
import { cri } from '../calls/methods.ts';

interface CniInput {
  /** Identifies the node on this machine. */
  readonly name: string;
  readonly podCIDRs: readonly string[];
  /** Directory for the addresses in use. */
  readonly addresses: string;
  /** True when iptables is available. Otherwise traffic leaves with the pod's address, and there are no host ports. */
  readonly hasIptables: boolean;
}

/** The name of the node's bridge. Names of network interfaces have at most 15 characters. */
export function bridgeOf(name: string): string {
  return `qd${createHash('sha256').update(name).digest('hex').slice(0, 10)}`;
}

/** The name of the file with the configuration of a node's network. */
export function cniFile(name: string): string {
  return `10-${bridgeOf(name)}.conflist`;
}

/** Returns the bridge that a file of this program configures; undefined for other files. */
export function bridgeIn(file: string): string | undefined {
  return /^10-(qd[0-9a-f]{10})\.conflist$/.exec(file)?.[1];
}

/** The CNI configuration of a node. `loopback` is not in it: containerd always adds it. */
export function cniConfiguration({ name, podCIDRs, addresses, hasIptables }: CniInput): string {
  const bridge = {
    type: 'bridge',
    bridge: bridgeOf(name),
    isGateway: true,
    ipMasq: hasIptables,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      dataDir: addresses,
      ranges: podCIDRs.map((subnet) => [{ subnet }]),
      routes: podCIDRs.map((subnet) => ({ dst: subnet.includes(':') ? '::/0' : '0.0.0.0/0' })),
    },
  };
  const portMap = { type: 'portmap', capabilities: { portMappings: true } };
  const plugins = hasIptables ? [bridge, portMap] : [bridge];
  return `${JSON.stringify({ cniVersion: '0.4.0', name: bridgeOf(name), plugins }, undefined, 2)}\n`;
}

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
