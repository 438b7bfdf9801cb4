/** The network of the pods of a node: a bridge, a pair of interfaces for each pod with guards, and nftables rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { runProgram } from '../../../base/programs/run-program.ts';
import { InterfaceGuard } from '../../interfaces/interface-guard.ts';
import { addTable, deleteTable, type NftCommand, type NftTable } from '../../interfaces/nft-json.ts';
import { runNft } from '../../interfaces/run-nft.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { AddressRange } from './addresses.ts';
import {
  attachCommands,
  CONNECT_SCRIPT,
  deviceOf,
  INSIDE_SCRIPT,
  insideCommands,
  macOf,
  namespacePath,
} from './interface-commands.ts';
import { type PublishedPort, ruleset } from './rules.ts';

/** A pod that gets an interface. */
interface ConnectedSandbox {
  readonly id: string;
  /** IPv4. */
  readonly address: string;
  /** Path of its network namespace: `/proc/PID/ns/net`, or a file that it is mounted on. */
  readonly netns: string;
}

export interface PodNetwork {
  /** Gap in the protection of pods on this machine, as a sentence; undefined: none. */
  readonly limitation: string | undefined;
  /**
   * Makes the interface of a pod, with its address, route, loopback interface and guards. An interface that it has already is
   * replaced. Rejects with a RuntimeError.
   */
  connect(sandbox: ConnectedSandbox): Promise<void>;
  /** Brings up the loopback interface of a namespace, for pods without an address. */
  loopback(netns: string): Promise<void>;
  /** Removes the interface. It goes by itself with the namespace, later. */
  disconnect(sandboxId: string): Promise<void>;
  publish(ports: readonly PublishedPort[]): Promise<void>;
  /** Removes the interfaces on the bridge except for those of these sandboxes: nobody keeps account of their addresses. */
  removeUnknown(sandboxIds: readonly string[]): Promise<void>;
  /** Removes the bridge and the rules. */
  remove(): Promise<void>;
}

export interface BridgeOptions {
  readonly name: string;
  readonly podCidr: string;
  readonly range: AddressRange;
  /** Paths of the programs. */
  readonly ip: string;
  readonly nsenter: string;
  readonly nft: string | undefined;
}

/** Makes the bridge and its rules. Rejects when this machine cannot. */
export async function openBridge({ name, podCidr, range, ip, nsenter, nft }: BridgeOptions): Promise<PodNetwork> {
  const bridge = `qd-${name}`;
  const table: NftTable = { family: 'ip', name: `quarterdeck_${name.replace(/[^a-z0-9]/gi, '_')}_pods` };
  const batch = (lines: readonly string[], ...flags: string[]) =>
    run([ip, ...flags, '-batch', '-'], `${lines.join('\n')}\n`);
  const apply = async (commands: readonly NftCommand[]) => {
    if (nft) await runNft(nft, commands).catch(asRuntimeError);
  };
  const inside = (netns: string, lines: readonly string[]) =>
    run([nsenter, `--net=${namespacePath(netns)}`, '/bin/sh', '-c', INSIDE_SCRIPT, 'sh', ip], `${lines.join('\n')}\n`);
  // An existing bridge stays: -force goes on after an error, and the next batch checks the address.
  await batch([`link add ${bridge} type bridge`], '-force').catch(() => undefined);
  await batch([`addr replace ${range.gateway}/${range.prefixLength} dev ${bridge}`, `link set ${bridge} up`]);
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  // Without pods, the bridge leaves the range to others that have it, too: it stays when everything is killed.
  tryWrite(`/proc/sys/net/ipv4/conf/${bridge}/ignore_routes_with_linkdown`, '1');
  tryWrite(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`, '1');
  tryWrite('/proc/sys/net/bridge/bridge-nf-call-iptables', '1');
  const rules = (ports: readonly PublishedPort[]) =>
    ruleset({ table, podCidr, bridge, ports, filtersBridge: filtersBridges() });
  const [guard] = await Promise.all([InterfaceGuard.open({ name, nft, enter: [] }), apply(rules([]))]);
  const removeDevice = (sandboxId: string) => batch([`link del ${deviceOf(sandboxId)}`]).catch(() => undefined);
  return {
    limitation: guard.limitation,
    async connect({ id, address, netns }) {
      const outside = attachCommands({ bridge, sandboxId: id, address, netns });
      const guards = guard.document({ sandboxId: id, device: deviceOf(id), address, mac: macOf(address) }) ?? '';
      const configured = insideCommands(address, range);
      const programs = [ip, nsenter, nft ?? '', namespacePath(netns)];
      const connect = () =>
        run(
          [
            ...['/bin/sh', '-c', CONNECT_SCRIPT, 'sh', ...programs],
            ...[outside.join('\n'), guards, configured.join('\n'), INSIDE_SCRIPT],
          ],
          '',
        );
      await connect().catch(async () => {
        // A connection that was interrupted has left its interface.
        await removeDevice(id);
        await connect().catch((error: Error) => {
          const why = error.message.slice(error.message.lastIndexOf(' failed: ') + 1);
          throw new RuntimeError('Unknown', `making the network of the pod ${why}`);
        });
      });
    },
    loopback: (netns) => inside(netns, ['link set lo up']),
    async disconnect(sandboxId) {
      await Promise.all([removeDevice(sandboxId), guard.release(sandboxId).catch(() => undefined)]);
    },
    async publish(ports) {
      if (!nft && ports.length > 0)
        throw new RuntimeError('Unsupported', 'host ports need nft, which is not installed');
      await apply(rules(ports));
    },
    async removeUnknown(sandboxIds) {
      const known = new Set(sandboxIds.map(deviceOf));
      const lines = (await runProgram([ip, '-o', 'link', 'show', 'master', bridge])).split('\n');
      const devices = lines.flatMap((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? []);
      for (const device of devices) if (!known.has(device)) await batch([`link del ${device}`]).catch(() => undefined);
      if (known.size === 0) await guard.remove().catch(() => undefined);
    },
    async remove() {
      await batch([`link del ${bridge}`]).catch(() => undefined);
      await apply([addTable(table), deleteTable(table)]).catch(() => undefined);
      await guard.remove().catch(() => undefined);
    },
  };
}

/** Reports whether packets between pods of one bridge pass nftables. */
function filtersBridges(): boolean {
  try {
    return readFileSync('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}

function tryWrite(path: string, value: string): void {
  try {
    writeFileSync(path, value);
  } catch {
    // Only needed beside other nodes, for ports on the loopback address of the node, and to preserve the addresses of pods.
  }
}

async function run(command: readonly string[], input: string): Promise<void> {
  await runProgram(command, { input }).catch(asRuntimeError);
}

function asRuntimeError(error: Error): never {
  throw new RuntimeError('Unknown', error.message);
}
