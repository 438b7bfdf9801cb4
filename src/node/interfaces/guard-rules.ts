/**
 * The rules for the interface of one pod: a table with two chains at the node's end of it, for what the pod sends and for what it
 * receives. With a table for each interface, nothing is left when the last pod is gone.
 */
import { createHash } from 'node:crypto';
import {
  ACCEPT,
  addChain,
  addRule,
  addTable,
  type BaseChain,
  deleteTable,
  field,
  flushTable,
  ipv4,
  macAddress,
  type NftCommand,
  type NftTable,
} from './nft-json.ts';

export interface GuardedInterface {
  /** The sandbox that it belongs to. */
  readonly sandboxId: string;
  /** The name of the node's end. */
  readonly device: string;
  /** The address and the hardware address of the pod's end. */
  readonly address: string;
  readonly mac: string;
}

/** Before everything else: a packet that is dropped is not seen by the bridge either, which learns hardware addresses. */
const PRIORITY = -500;
const BROADCAST = 'ff:ff:ff:ff:ff:ff';

/** Replaces the table of an interface. `guardsReceived`: whether the kernel has a hook for what is sent to the pod. */
export function guardCommands(
  node: string,
  { sandboxId, device, address, mac }: GuardedInterface,
  { guardsReceived }: { readonly guardsReceived: boolean },
): readonly NftCommand[] {
  const table = tableOf(node, sandboxId);
  const [sent, received] = ['sent', 'received'];
  const [own, ownMac] = [ipv4(address), macAddress(mac)];
  const hook = (name: BaseChain['hook']): BaseChain => ({
    type: 'filter',
    hook: name,
    prio: PRIORITY,
    policy: 'drop',
    dev: device,
  });
  const fromOwnMac = field('ether', 'saddr', ownMac);
  return [
    // A table that exists is emptied: to remove its chains and make them again takes the kernel longer.
    ...[addTable(table), flushTable(table)],
    addChain(table, sent, hook('ingress')),
    addRule(table, sent, [fromOwnMac, field('ether', 'type', 'ip'), field('ip', 'saddr', own), ACCEPT]),
    addRule(table, sent, [
      ...[fromOwnMac, field('ether', 'type', 'arp'), field('arp', 'saddr ether', ownMac)],
      ...[field('arp', 'saddr ip', own), ACCEPT],
    ]),
    ...(guardsReceived
      ? [
          addChain(table, received, hook('egress')),
          addRule(table, received, [
            ...[field('ether', 'daddr', ownMac), field('ether', 'type', 'ip'), field('ip', 'daddr', own), ACCEPT],
          ]),
          addRule(table, received, [
            ...[field('ether', 'daddr', { set: [ownMac, BROADCAST] }), field('ether', 'type', 'arp'), ACCEPT],
          ]),
        ]
      : []),
  ];
}

/** Removes the table of an interface, whether or not it exists. */
export function releaseCommands(node: string, sandboxId: string): readonly NftCommand[] {
  const table = tableOf(node, sandboxId);
  return [addTable(table), deleteTable(table)];
}

/** How the names of the tables of a node begin. */
export function tablePrefix(node: string): string {
  return `qd-${node.replace(/[^A-Za-z0-9]/g, '-')}-if-`;
}

function tableOf(node: string, sandboxId: string): NftTable {
  const id = createHash('sha256').update(sandboxId).digest('hex').slice(0, 16);
  return { family: 'netdev', name: `${tablePrefix(node)}${id}` };
}
