/** Computes which pods of a node are isolated, and from which peers. */

import type { DeepReadonly } from '../../api/object-types.ts';
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import { groupBy } from '../../base/collections/group-by.ts';
import { memoized } from '../../base/collections/memoized.ts';
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import type { Namespace as NamespaceObject } from '../../kinds/groups/core/namespace.ts';
import type { Pod as PodObject } from '../../kinds/groups/core/pod/pod.ts';
import type { NetworkPolicy as NetworkPolicyObject } from '../../kinds/groups/networking/network-policy.ts';
import { canonicalRange } from '../../kinds/shapes/meta/addresses/ip-range.ts';
import type { LabelSelector } from '../../kinds/shapes/meta/label-selector.ts';
import { fromLabelSelector } from '../../schema/selector/selector.ts';
import { addressesOf, hasAddressOfNode } from './pod-addresses.ts';
import type { Allowance, AllowedPort, Direction, Isolation, NamedPort, Peers, PolicySet } from './policy-set.ts';

type NetworkPolicy = DeepReadonly<NetworkPolicyObject>;
type Pod = DeepReadonly<PodObject>;
type Namespace = DeepReadonly<NamespaceObject>;
type Rule = NonNullable<NetworkPolicy['spec']['egress']>[number];
type Peer = NonNullable<Rule['to']>[number];
type Port = NonNullable<Rule['ports']>[number];

export interface PolicyWorld {
  readonly policies: readonly NetworkPolicy[];
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  /** The name of the node. */
  readonly node: string;
}

/** A policy may have thousands of rules, peers and ports, each of which is compared with all pods. */
export function* policySetOf({ policies, pods, namespaces, node }: PolicyWorld, pace: Pace): DividedWork<PolicySet> {
  if (policies.length === 0) return [];
  const running = pods.filter(hasOwnNetwork);
  const labelsOf = new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  const podsIn = groupBy(running, ({ metadata }) => metadata.namespace ?? '');
  const world: Peerage = { pods: running, podsIn, labelsOf, found: new Map(), pace };
  const here = running.filter(({ spec }) => spec.nodeName === node);
  return [
    ...(yield* isolations('ingress', { policies, here, world })),
    ...(yield* isolations('egress', { policies, here, world })),
  ];
}

interface Peerage {
  readonly pods: readonly Pod[];
  readonly podsIn: ReadonlyMap<string, readonly Pod[]>;
  readonly labelsOf: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** The pods that peers select: the same for all pods that a policy isolates. */
  readonly found: Map<Peer, readonly Pod[]>;
  readonly pace: Pace;
}

/** Pods that the same policies select are isolated together. */
function* isolations(
  direction: Direction,
  { policies, here, world }: { policies: readonly NetworkPolicy[]; here: readonly Pod[]; world: Peerage },
): DividedWork<readonly Isolation[]> {
  const relevant = groupBy(
    policies.filter((policy) => concerns(policy, direction)),
    ({ metadata }) => metadata.namespace ?? '',
  );
  const groups = new Map<string, { readonly selecting: readonly NetworkPolicy[]; readonly pods: Pod[] }>();
  for (const pod of here) {
    if (world.pace.isSpent()) yield;
    const selecting = relevant.get(pod.metadata.namespace ?? '')?.filter((policy) => selects(policy, pod)) ?? [];
    if (selecting.length === 0) continue;
    const key = selecting.map(nameOf).sort().join(' ');
    const group = groups.get(key) ?? { selecting, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  const found: Isolation[] = [];
  for (const { selecting, pods } of groups.values()) {
    const allowed: Allowance[] = [];
    for (const policy of selecting) yield* allow(allowed, policy, direction, { ...world, isolated: pods });
    found.push({
      direction,
      policies: selecting.map(nameOf).sort(),
      pods: pods.flatMap(addressesOf),
      allowances: allowed,
    });
  }
  return found;
}

/**
 * Reports whether a policy is about a direction. Without types, it is about ingress, and about egress if it has rules
 * for that. The server fills them in.
 */
function concerns({ spec }: NetworkPolicy, direction: Direction): boolean {
  const types = spec.policyTypes ?? (spec.egress ? ['Ingress', 'Egress'] : ['Ingress']);
  return types.includes(direction === 'ingress' ? 'Ingress' : 'Egress');
}

/** Reports whether a policy selects a pod of its namespace. */
function selects({ spec }: NetworkPolicy, pod: Pod): boolean {
  return isMatch(spec.podSelector, pod.metadata.labels);
}

/** Adds the traffic that a policy allows. */
function* allow(
  allowed: Allowance[],
  policy: NetworkPolicy,
  direction: Direction,
  world: Peerage & { readonly isolated: readonly Pod[] },
): DividedWork<void> {
  const rules =
    direction === 'ingress'
      ? (policy.spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (policy.spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
  for (const [index, { peers, ports }] of rules.entries()) {
    const others = peers?.length ? yield* podsOfAll(peers, policy, world) : undefined;
    const targets = direction === 'ingress' ? world.isolated : (others ?? world.pods);
    allowed.push({
      id: `${nameOf(policy)} ${direction} ${index}`,
      peers: peers?.length ? peersOf(peers, others ?? []) : undefined,
      ports: ports?.length ? yield* portsOf(ports, targets, world.pace) : undefined,
    });
  }
}

/** Returns each pod once, however many peers select it. */
function* podsOfAll(peers: readonly Peer[], policy: NetworkPolicy, world: Peerage): DividedWork<readonly Pod[]> {
  const all = new Set<Pod>();
  for (const peer of peers) {
    if (world.pace.isSpent()) yield;
    const known = getOrInsert(world.found, peer, () => podsOf(peer, policy, world));
    for (const pod of known) all.add(pod);
  }
  return [...all];
}

function podsOf(
  { podSelector, namespaceSelector, ipBlock }: Peer,
  policy: NetworkPolicy,
  { podsIn, labelsOf }: Peerage,
): readonly Pod[] {
  if (ipBlock) return [];
  const own = policy.metadata.namespace ?? '';
  const found: Pod[] = [];
  for (const [namespace, pods] of podsIn) {
    if (namespaceSelector ? !isMatch(namespaceSelector, labelsOf.get(namespace)) : namespace !== own) continue;
    for (const pod of pods) if (!podSelector || isMatch(podSelector, pod.metadata.labels)) found.push(pod);
  }
  return found;
}

function* portsOf(
  ports: readonly Port[],
  targets: readonly Pod[],
  pace: Pace,
): DividedWork<readonly (AllowedPort | NamedPort)[]> {
  const found: (AllowedPort | NamedPort)[] = [];
  for (const port of ports) {
    if (pace.isSpent()) yield;
    found.push(portOf(port, targets));
  }
  return found;
}

function peersOf(peers: readonly Peer[], pods: readonly Pod[]): Peers {
  return {
    pods: [...new Set(pods.flatMap(addressesOf))].sort(),
    blocks: peers.flatMap(({ ipBlock }) => (ipBlock ? blockOf(ipBlock) : [])),
  };
}

/** A block that is not understood in full allows nothing. */
function blockOf({ cidr, except = [] }: NonNullable<Peer['ipBlock']>): Peers['blocks'] {
  const range = canonicalRange(cidr);
  const without = except.map(canonicalRange);
  const isOfFamily = (each: string) => each.includes(':') === range?.includes(':');
  const isClear = without.every((each) => each !== undefined && isOfFamily(each));
  return range !== undefined && isClear ? [{ range, except: without as string[] }] : [];
}

function portOf({ port, endPort, protocol }: Port, targets: readonly Pod[]): AllowedPort | NamedPort {
  const lower = (protocol ?? 'TCP').toLowerCase() as AllowedPort['protocol'];
  if (typeof port !== 'string') {
    return { protocol: lower, range: port === undefined ? undefined : [port, endPort ?? port] };
  }
  const destinations = targets.flatMap((pod) =>
    numbersOf(pod, port, protocol ?? 'TCP').flatMap((number) =>
      addressesOf(pod).map((address) => ({ address, port: number })),
    ),
  );
  return { protocol: lower, destinations };
}

function numbersOf({ spec }: Pod, name: string, protocol: string): readonly number[] {
  return [...spec.containers, ...(spec.initContainers ?? [])]
    .flatMap(({ ports }) => ports ?? [])
    .filter((port) => port.name === name && (port.protocol ?? 'TCP') === protocol)
    .map(({ containerPort }) => containerPort);
}

function isMatch(
  selector: DeepReadonly<LabelSelector> | undefined,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return compiledSelector(selector ?? EVERYTHING).matches(labels);
}

const EVERYTHING: DeepReadonly<LabelSelector> = Object.freeze({});

type Compiled = ReturnType<typeof fromLabelSelector>;
/** Cache by selector, which is compared with many pods. */
const compiledSelector = memoized((selector: DeepReadonly<LabelSelector>): Compiled => fromLabelSelector(selector));

/**
 * Reports whether a pod has its own network. Pods on the network of the node cannot be told from it, whether they ask
 * for it or the node has no other for them.
 */
function hasOwnNetwork(pod: Pod): boolean {
  const { spec, status } = pod;
  const isOnNodeNetwork = spec.hostNetwork === true || hasAddressOfNode(pod);
  return !isOnNodeNetwork && status.phase !== 'Succeeded' && status.phase !== 'Failed' && addressesOf(pod).length > 0;
}

const nameOf = ({ metadata }: NetworkPolicy) => `${metadata.namespace}/${metadata.name}`;
