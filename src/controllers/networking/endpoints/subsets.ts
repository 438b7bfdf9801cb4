/** Normalizes the subsets of an Endpoints object: each port once, each subset with its own ports. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Endpoints } from '../../../kinds/groups/core/endpoints.ts';

export type Subset = DeepReadonly<NonNullable<Endpoints['subsets']>[number]>;
export type Address = NonNullable<Subset['addresses']>[number];
type Port = NonNullable<Subset['ports']>[number];

/** The maximum number of addresses in an Endpoints object. */
export const MAX_ADDRESSES = 1000;

interface Entry {
  readonly address: Address;
  readonly isReady: boolean;
}

/**
 * Ports with the same addresses share a subset. An address that is ready in one subset and not in another is not ready.
 */
export function packed(subsets: readonly Subset[]): readonly Subset[] {
  const byPort = new Map<string, { port: Port | undefined; entries: Map<string, Entry> }>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length > 0 ? ports : [undefined]) {
      const key = portKey(port);
      const group = byPort.get(key) ?? { port, entries: new Map() };
      byPort.set(key, group);
      for (const address of addresses) enter(group.entries, { address, isReady: true });
      for (const address of notReadyAddresses) enter(group.entries, { address, isReady: false });
    }
  }
  const groups = new Map<string, { ports: Port[]; entries: Entry[] }>();
  for (const [, { port, entries }] of [...byPort].sort(([a], [b]) => compare(a, b))) {
    const sorted = [...entries].sort(([a], [b]) => compare(a, b));
    const key = sorted.map(([place, { isReady }]) => `${place} ${isReady}`).join('\n');
    const group = groups.get(key) ?? { ports: [], entries: sorted.map(([, entry]) => entry) };
    groups.set(key, group);
    if (port) group.ports.push(port);
  }
  return [...groups.values()].filter(({ entries }) => entries.length > 0).map(subsetOf);
}

function subsetOf({ ports, entries }: { ports: readonly Port[]; entries: readonly Entry[] }): Subset {
  const ready = entries.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReady = entries.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(ready.length > 0 ? { addresses: ready } : {}),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
    ...(ports.length > 0 ? { ports } : {}),
  };
}

/**
 * Truncates each subset to its share; addresses that are not ready are dropped first. Undefined when nothing is dropped.
 */
export function truncated(subsets: readonly Subset[]): readonly Subset[] | undefined {
  const ready = sum(subsets.map(({ addresses = [] }) => addresses.length));
  const notReady = sum(subsets.map(({ notReadyAddresses = [] }) => notReadyAddresses.length));
  if (ready + notReady <= MAX_ADDRESSES) return undefined;
  const isReadyCut = ready > MAX_ADDRESSES;
  const room = isReadyCut ? MAX_ADDRESSES : MAX_ADDRESSES - ready;
  let left = room;
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports }) => {
    const list = isReadyCut ? addresses : notReadyAddresses;
    const share = Math.min(left, Math.ceil((list.length / (isReadyCut ? ready : notReady)) * room));
    const kept = list.slice(0, share);
    left -= kept.length;
    const [first, second] = isReadyCut ? [kept, []] : [addresses, kept];
    return {
      ...(first.length > 0 ? { addresses: first } : {}),
      ...(second.length > 0 ? { notReadyAddresses: second } : {}),
      ...(ports ? { ports } : {}),
    };
  });
}

function enter(entries: Map<string, Entry>, entry: Entry): void {
  const { ip, targetRef } = entry.address;
  const key = `${ip} ${targetRef?.uid ?? ''}`;
  const known = entries.get(key);
  if (!known || !entry.isReady) entries.set(key, entry);
}

const portKey = (port: Port | undefined) =>
  port ? [port.name ?? '', port.protocol, port.port, port.appProtocol ?? ''].join(' ') : '';

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
