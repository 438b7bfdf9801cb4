/** The network of the pods of a node: a bridge, a pair of interfaces for each pod, and nftables rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { runProgram } from '../../../base/programs/run-program.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { AddressRange } from './addresses.ts';
import { type PublishedPort, ruleset } from './rules.ts';

export interface PodNetwork {
  connect(sandbox: { readonly id: string; readonly address: string; readonly netns: string }): Promise<void>;
  loopback(netns: string): Promise<void>;
  disconnect(sandboxId: string): Promise<void>;
  publish(ports: readonly PublishedPort[]): Promise<void>;
  remove(): Promise<void>;
}

export interface BridgeOptions {
  readonly name: string;
  readonly podCidr: string;
  readonly range: AddressRange;
  readonly ip: string;
  readonly nft: string | undefined;
}

/** Makes the bridge and its rules. Rejects when this machine cannot. */
export async function openBridge({ name, podCidr, range, ip, nft }: BridgeOptions): Promise<PodNetwork> {
  const bridge = `qd-${name}`;
  const table = `quarterdeck_${name.replace(/[^a-z0-9]/gi, '_')}_pods`;
  const batch = (text: string, ...flags: string[]) => run([ip, ...flags, '-batch', '-'], text);
  const apply = async (text: string) => {
    if (nft) await run([nft, '-f', '-'], text);
  };
  // What exists already stays: -force goes on after an error, and the address is checked by what follows.
  await batch(`link add ${bridge} type bridge\n`, '-force').catch(() => undefined);
  await batch(`addr replace ${range.gateway}/${range.prefixLength} dev ${bridge}\nlink set ${bridge} up\n`);
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  // Without pods, the bridge leaves the range to others that have it, too: it stays when everything is killed.
  tryWrite(`/proc/sys/net/ipv4/conf/${bridge}/ignore_routes_with_linkdown`, '1');
  tryWrite(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`, '1');
  tryWrite('/proc/sys/net/bridge/bridge-nf-call-iptables', '1');
  const rules = (ports: readonly PublishedPort[]) =>
    ruleset({ table, podCidr, bridge, ports, filtersBridge: filtersBridges() });
  await apply(rules([]));
  return {
    async connect({ id, address, netns }) {
      const outer = interfaceOf(id);
      const pid = /^\/proc\/(\d+)\//.exec(netns)?.[1] ?? netns.split('/').at(-1);
      await batch(
        `link add ${outer} type veth peer name eth0 netns ${pid}\nlink set ${outer} master ${bridge} up\nlink set ${outer} type bridge_slave hairpin on\n`,
      );
      await run(
        ['/usr/bin/nsenter', `--net=${netns}`, ip, '-batch', '-'],
        [
          'link set lo up',
          `addr add ${address}/${range.prefixLength} dev eth0`,
          'link set eth0 up',
          `route add default via ${range.gateway}`,
          '',
        ].join('\n'),
      );
    },
    loopback: (netns) => run(['/usr/bin/nsenter', `--net=${netns}`, ip, 'link', 'set', 'lo', 'up'], ''),
    async disconnect(sandboxId) {
      await batch(`link del ${interfaceOf(sandboxId)}\n`).catch(() => undefined);
    },
    async publish(ports) {
      if (!nft && ports.length > 0)
        throw new RuntimeError('Unsupported', 'host ports need nft, which is not installed');
      await apply(rules(ports));
    },
    async remove() {
      await batch(`link del ${bridge}\n`).catch(() => undefined);
      await apply(`table ip ${table} {}\ndelete table ip ${table}\n`).catch(() => undefined);
    },
  };
}

/** Whether packets between pods of one bridge pass nftables. */
function filtersBridges(): boolean {
  try {
    return readFileSync('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}

/** At most 15 characters. */
function interfaceOf(sandboxId: string): string {
  return `qd${sandboxId.slice(0, 12)}`;
}

function tryWrite(path: string, value: string): void {
  try {
    writeFileSync(path, value);
  } catch {
    // Only needed beside other nodes, for ports on the loopback address of the node, and to preserve the addresses of pods.
  }
}

async function run(command: readonly string[], input: string): Promise<void> {
  try {
    await runProgram(command, { input });
  } catch (error) {
    throw new RuntimeError('Unknown', (error as Error).message);
  }
}
