/** The nftables rules of the pods of a node: masquerading, and the ports of pods on the node's addresses. */
import { isIPv4 } from 'node:net';
import {
  addChain,
  addRule,
  addTable,
  deleteTable,
  deviceName,
  field,
  ipv4,
  ipv4Prefix,
  jumpTo,
  MASQUERADE,
  type NftCommand,
  type NftStatement,
  type NftTable,
  portNumber,
} from '../../interfaces/nft-json.ts';
import type { PortMapping } from '../../runtime/sandbox-config.ts';

export interface PublishedPort extends PortMapping {
  /** Address of the pod. */
  readonly address: string;
}

export interface PodRules {
  readonly table: NftTable;
  readonly podCidr: string;
  readonly bridge: string;
  readonly ports: readonly PublishedPort[];
  /** True when packets between pods of the bridge pass nftables, so that their replies are translated back. */
  readonly filtersBridge: boolean;
}

const PROTOCOLS: Readonly<Record<PortMapping['protocol'], string>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };
const DNAT_PRIORITY = -100;
const SNAT_PRIORITY = 100;
/** Host addresses that mean any address; empty text is the default of the API. */
const ANY_ADDRESS: readonly (string | undefined)[] = [undefined, '', '0.0.0.0'];

const IS_LOCAL: NftStatement = {
  match: { op: '==', left: { fib: { result: 'type', flags: ['daddr'] } }, right: 'local' },
};
const IS_TRANSLATED: NftStatement = { match: { op: 'in', left: { ct: { key: 'status' } }, right: 'dnat' } };

/** The whole table, replaced in one transaction. Ports that cannot be published are left out: others must not suffer from them. */
export function ruleset({ table, podCidr, bridge, ports, filtersBridge }: PodRules): readonly NftCommand[] {
  const published = ports.filter(isPublishable);
  const range = ipv4Prefix(podCidr);
  const fromPods = field('ip', 'saddr', range);
  const leaves = (op: '==' | '!='): NftStatement => ({
    match: { op, left: { meta: { key: 'oifname' } }, right: deviceName(bridge) },
  });
  const addresses = [...new Set(published.map(({ address }) => address))];
  const toItself = addresses.map((address) => [
    ...[field('ip', 'saddr', address), field('ip', 'daddr', address), IS_TRANSLATED, MASQUERADE],
  ]);
  const nat = (hook: 'prerouting' | 'output' | 'postrouting', prio: number) =>
    addChain(table, hook, { type: 'nat', hook, prio, policy: 'accept' });
  const source = [
    [fromPods, leaves('!='), MASQUERADE],
    // From the node to one of its own ports, and from a pod to itself through one: the answer must come back here.
    [field('ip', 'saddr', ipv4Prefix('127.0.0.0/8')), leaves('=='), MASQUERADE],
    ...(filtersBridge ? toItself : [[fromPods, leaves('=='), IS_TRANSLATED, MASQUERADE]]),
  ];
  return [
    ...[addTable(table), deleteTable(table), addTable(table)],
    ...[addChain(table, 'published'), nat('prerouting', DNAT_PRIORITY), nat('output', DNAT_PRIORITY)],
    nat('postrouting', SNAT_PRIORITY),
    ...published.map((port) => addRule(table, 'published', publishedPort(port))),
    ...['prerouting', 'output'].map((chain) => addRule(table, chain, [IS_LOCAL, jumpTo('published')])),
    ...source.map((rule) => addRule(table, 'postrouting', rule)),
  ];
}

function publishedPort({ protocol, hostPort, hostIP, address, containerPort }: PublishedPort): readonly NftStatement[] {
  return [
    ...(isAny(hostIP) ? [] : [field('ip', 'daddr', ipv4(hostIP!))]),
    field(PROTOCOLS[protocol], 'dport', portNumber(hostPort)),
    { dnat: { addr: ipv4(address), port: portNumber(containerPort) } },
  ];
}

/** Reports whether all fields are valid: they come from clients. */
function isPublishable({ protocol, hostPort, hostIP, address, containerPort }: PublishedPort): boolean {
  const isPort = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 65_535;
  return (
    Object.hasOwn(PROTOCOLS, protocol) &&
    [hostPort, containerPort].every(isPort) &&
    isIPv4(address) &&
    (isAny(hostIP) || isIPv4(hostIP!))
  );
}

const isAny = (hostIP: string | undefined) => ANY_ADDRESS.includes(hostIP);
