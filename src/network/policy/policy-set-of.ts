/** Computes which pods of a node are isolated, and from what. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Namespace as NamespaceObject } from '../../kinds/groups/core/namespace.ts';
import type { Pod as PodObject } from '../../kinds/groups/core/pod/pod.ts';
import type { NetworkPolicy as NetworkPolicyObject } from '../../kinds/groups/networking/network-policy.ts';
import { type LabelSelector, selectorMatches } from '../../kinds/shapes/meta/label-selector.ts';
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

export function policySetOf({ policies, pods, namespaces, node }: PolicyWorld): PolicySet {
  if (policies.length === 0) return [];
  const running = pods.filter(hasOwnNetwork);
  const labelsOf = new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  const world = { pods: running, labelsOf };
  const here = running.filter(({ spec }) => spec.nodeName === node);
  return (['ingress', 'egress'] as const).flatMap((direction) => isolations(direction, { policies, here, world }));
}

interface Peerage {
  readonly pods: readonly Pod[];
  readonly labelsOf: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** Pods that the same policies select are isolated together. */
function isolations(
  direction: Direction,
  { policies, here, world }: { policies: readonly NetworkPolicy[]; here: readonly Pod[]; world: Peerage },
): readonly Isolation[] {
  const relevant = policies.filter((policy) => concerns(policy, direction));
  const groups = new Map<string, { readonly selecting: readonly NetworkPolicy[]; readonly pods: Pod[] }>();
  for (const pod of here) {
    const selecting = relevant.filter((policy) => selects(policy, pod));
    if (selecting.length === 0) continue;
    const key = selecting.map(nameOf).sort().join(' ');
    const group = groups.get(key) ?? { selecting, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ selecting, pods }) => ({
    direction,
    policies: selecting.map(nameOf).sort(),
    pods: pods.flatMap(addressesOf),
    allowances: selecting.flatMap((policy) => allowances(policy, direction, { ...world, isolated: pods })),
  }));
}

/** Without types, a policy is about ingress, and about egress if it has rules for that. The server fills them in. */
function concerns({ spec }: NetworkPolicy, direction: Direction): boolean {
  const types = spec.policyTypes ?? (spec.egress ? ['Ingress', 'Egress'] : ['Ingress']);
  return types.includes(direction === 'ingress' ? 'Ingress' : 'Egress');
}

function selects({ metadata, spec }: NetworkPolicy, pod: Pod): boolean {
  return metadata.namespace === pod.metadata.namespace && isMatch(spec.podSelector, pod.metadata.labels);
}

function allowances(
  policy: NetworkPolicy,
  direction: Direction,
  world: Peerage & { readonly isolated: readonly Pod[] },
): readonly Allowance[] {
  const rules =
    direction === 'ingress'
      ? (policy.spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (policy.spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
  return rules.map(({ peers, ports }, index) => {
    const others = peers?.length ? peers.map((peer) => podsOf(peer, policy, world)) : undefined;
    const targets = direction === 'ingress' ? world.isolated : (others?.flat() ?? world.pods);
    return {
      id: `${nameOf(policy)} ${direction} ${index}`,
      peers: peers?.length ? peersOf(peers, others?.flat() ?? []) : undefined,
      ports: ports?.length ? ports.map((port) => portOf(port, targets)) : undefined,
    };
  });
}

function podsOf(
  { podSelector, namespaceSelector, ipBlock }: Peer,
  policy: NetworkPolicy,
  world: Peerage,
): readonly Pod[] {
  if (ipBlock) return [];
  return world.pods.filter(({ metadata }) => {
    const isInNamespace = namespaceSelector
      ? isMatch(namespaceSelector, world.labelsOf.get(metadata.namespace ?? ''))
      : metadata.namespace === policy.metadata.namespace;
    return isInNamespace && (!podSelector || isMatch(podSelector, metadata.labels));
  });
}

function peersOf(peers: readonly Peer[], pods: readonly Pod[]): Peers {
  return {
    pods: [...new Set(pods.flatMap(addressesOf))].sort(),
    blocks: peers.flatMap(({ ipBlock }) => (ipBlock ? [{ range: ipBlock.cidr, except: ipBlock.except ?? [] }] : [])),
  };
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
  return selectorMatches((selector ?? {}) as LabelSelector, labels);
}

/** Pods on the network of the node cannot be told from it. */
function hasOwnNetwork({ spec, status }: Pod): boolean {
  return !spec.hostNetwork && status.phase !== 'Succeeded' && status.phase !== 'Failed' && !!status.podIP;
}

/** The addresses of a pod; those on the network of the node have its addresses. */
export function addressesOf({ status }: Pod): readonly string[] {
  const all = status.podIPs?.flatMap(({ ip }) => ip ?? []) ?? [];
  return all.length > 0 ? all : status.podIP ? [status.podIP] : [];
}

const nameOf = ({ metadata }: NetworkPolicy) => `${metadata.namespace}/${metadata.name}`;
