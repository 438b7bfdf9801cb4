/** The rules for the interface of one pod: two chains at the node's end of it, for what the pod sends and for what it receives. */
import { createHash } from 'node:crypto';
import {
  ACCEPT,
  addChain,
  addRule,
  addTable,
  type BaseChain,
  deleteChain,
  field,
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

/** Replaces the chains of an interface. `guardsReceived`: whether the kernel has a hook for what is sent to the pod. */
export function guardCommands(
  table: NftTable,
  { sandboxId, device, address, mac }: GuardedInterface,
  { guardsReceived }: { readonly guardsReceived: boolean },
): readonly NftCommand[] {
  const { sent, received } = chainsOf(sandboxId);
  const [own, ownMac] = [ipv4(address), macAddress(mac)];
  const hook = (name: BaseChain['hook']): BaseChain => ({
    ...{ type: 'filter', hook: name, prio: PRIORITY, policy: 'drop', dev: device },
  });
  const fromOwnMac = field('ether', 'saddr', ownMac);
  return [
    ...releaseCommands(table, sandboxId),
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

/** Removes the chains of an interface, whether or not they exist: some kernels remove them with the interface. */
export function releaseCommands(table: NftTable, sandboxId: string): readonly NftCommand[] {
  const { sent, received } = chainsOf(sandboxId);
  return [
    addTable(table),
    ...[sent, received].flatMap((chain) => [addChain(table, chain), deleteChain(table, chain)]),
  ];
}

function chainsOf(sandboxId: string): { readonly sent: string; readonly received: string } {
  const id = createHash('sha256').update(sandboxId).digest('hex').slice(0, 16);
  return { sent: `sent-${id}`, received: `received-${id}` };
}
