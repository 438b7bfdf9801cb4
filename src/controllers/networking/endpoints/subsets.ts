/** Normalizes the subsets of an Endpoints object: each port once, each subset with its own ports. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import type { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';

export type Subset = DeepReadonly<NonNullable<Endpoints['subsets']>[number]>;
export type Address = NonNullable<Subset['addresses']>[number];
type Port = NonNullable<Subset['ports']>[number];

/** The maximum number of addresses in an Endpoints object. */
export const MAX_ADDRESSES = 1000;

/** Maximum number of addresses in all subsets together; subsets that share addresses each list them. */
const MAX_PACKED_ADDRESSES = 100_000;

interface Entry {
  readonly address: Address;
  readonly isReady: boolean;
}

/** Addresses by their keys. */
type Entries = ReadonlyMap<string, Entry>;

export interface Packed {
  readonly subsets: readonly Subset[];
  /** True when subsets were left out because all subsets together have too many addresses. */
  readonly isCut: boolean;
}

/**
 * Ports with the same addresses share a subset. An address that is not ready in one subset is not ready. Ports that
 * occur in the same of the given subsets have the same addresses, and are never combined with them one by one.
 */
export function* packed(subsets: readonly Subset[], pace: Pace): DividedWork<Packed> {
  const bySources = new Map<string, { ports: KeyedPort[]; sources: readonly number[] }>();
  for (const { key, port, sources } of yield* portsIn(subsets, pace)) {
    if (pace.isSpent()) yield;
    const text = sources.join(' ');
    const group = getOrInsert(bySources, text, () => ({ ports: [], sources }));
    group.ports.push({ key, port });
  }
  const given: Entries[] = [];
  for (const subset of subsets) {
    if (pace.isSpent()) yield;
    given.push(entriesOf(subset));
  }
  const groups = new Map<string, { ports: KeyedPort[]; entries: readonly Entry[] }>();
  let left = MAX_PACKED_ADDRESSES;
  for (const { ports, sources } of bySources.values()) {
    if (pace.isSpent()) yield;
    left -= sum(sources.map((source) => (given[source] as Entries).size));
    if (left < 0) break;
    const sorted = [...union(sources.map((source) => given[source] as Entries))].sort(([a], [b]) => compare(a, b));
    const text = sorted.map(([key, { isReady }]) => `${key} ${isReady}`).join('\n');
    const group = getOrInsert(groups, text, () => ({ ports: [], entries: sorted.map(([, entry]) => entry) }));
    for (const port of ports) group.ports.push(port);
  }
  const out = [...groups.values()].filter(({ entries }) => entries.length > 0);
  for (const { ports } of out) ports.sort((a, b) => compare(a.key, b.key));
  out.sort((a, b) => compare(a.ports[0]?.key ?? '', b.ports[0]?.key ?? ''));
  return { subsets: out.map(subsetOf), isCut: left < 0 };
}

/** A port with its key; undefined for a subset without ports. */
interface KeyedPort {
  readonly key: string;
  readonly port: Port | undefined;
}

/** Returns all ports, sorted, each with the positions of the subsets that have it. */
function* portsIn(
  subsets: readonly Subset[],
  pace: Pace,
): DividedWork<(KeyedPort & { readonly sources: readonly number[] })[]> {
  const out = new Map<string, KeyedPort & { readonly sources: number[] }>();
  for (const [source, { ports = [] }] of subsets.entries()) {
    if (pace.isSpent()) yield;
    for (const { key, port } of keyed(ports)) {
      const found = getOrInsert(out, key, () => ({ key, port, sources: [] }));
      if (found.sources.at(-1) !== source) found.sources.push(source);
    }
  }
  return [...out.values()].sort((a, b) => compare(a.key, b.key));
}

/** Sorted, so that sorting them again with others takes little. Cached: those of a service are the same in every plan. */
const keyed = memoized((ports: readonly Port[]): readonly KeyedPort[] => {
  if (ports.length === 0) return WITHOUT_PORTS;
  return ports.map((port) => ({ key: portKey(port), port })).sort((a, b) => compare(a.key, b.key));
});

const WITHOUT_PORTS: readonly KeyedPort[] = [{ key: '', port: undefined }];

function entriesOf({ addresses = [], notReadyAddresses = [] }: Subset): Entries {
  const entries = new Map<string, Entry>();
  for (const address of addresses) enter(entries, { address, isReady: true });
  for (const address of notReadyAddresses) enter(entries, { address, isReady: false });
  return entries;
}

function union(all: readonly Entries[]): Entries {
  if (all.length === 1) return all[0] as Entries;
  const out = new Map<string, Entry>();
  for (const entries of all) for (const entry of entries.values()) enter(out, entry);
  return out;
}

function subsetOf({ ports: keyed, entries }: { ports: readonly KeyedPort[]; entries: readonly Entry[] }): Subset {
  const ports = keyed.flatMap(({ port }) => port ?? []);
  const ready = entries.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReady = entries.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    addresses: ready.length > 0 ? ready : undefined,
    notReadyAddresses: notReady.length > 0 ? notReady : undefined,
    ports: ports.length > 0 ? ports : undefined,
  };
}

/** Truncates each subset to its share, addresses that are not ready first. Undefined when nothing is dropped. */
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
      addresses: first.length > 0 ? first : undefined,
      notReadyAddresses: second.length > 0 ? second : undefined,
      ports,
    };
  });
}

function enter(entries: Map<string, Entry>, entry: Entry): void {
  const { ip, targetRef } = entry.address;
  const key = `${ip} ${targetRef?.uid ?? ''}`;
  const known = entries.get(key);
  if (!known || !entry.isReady) entries.set(key, entry);
}

const portKey = ({ name = '', protocol, port, appProtocol = '' }: Port) => `${name} ${protocol} ${port} ${appProtocol}`;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
