/**
 * Computes the configuration of the proxy from Ingresses, Services, EndpointSlices and Secrets. Pure. There may be
 * hundreds of thousands of paths: a plan continues from the one before, and unchanged parts stay the same objects.
 */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import type { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import type { Service } from '../../../kinds/groups/core/service/service.ts';
import type { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { ALL_HOSTS } from '../../../kinds/groups/networking/ingress-host-times.ts';
import type { BackendAddress, IngressConfig } from '../config.ts';
import { certificatesOf } from './certificates.ts';
import { type HostOwners, hostOwners, mayServe } from './owners.ts';
import {
  backendProblems,
  externalNameRejection,
  portOf,
  type Rejection,
  type Rejections,
  rejectionOf,
} from './rejections.ts';
import {
  type IngressBackend,
  type IngressProblem,
  type MergedHosts,
  mergedHosts,
  namespaceOf,
  type RulesByName,
  rulesByAge,
  type SeenIngress,
} from './rules.ts';

/** Limit for one backend: more would take memory for every port of a Service with many pods. */
export const MAX_ADDRESSES = 1_000;

export interface IngressWorld {
  /** Ingresses of our class. The list stays the same as in the plan before when none of them has changed. */
  readonly ingresses: readonly SeenIngress[];
  /** Changes since the plan before. */
  readonly changes: WorldChanges;
  /** Policy, which is the same for all plans. */
  readonly policy: IngressPolicy;
  service(namespace: string, name: string): DeepReadonly<Service> | undefined;
  slices(namespace: string, service: string): readonly DeepReadonly<EndpointSlice>[];
  secret(namespace: string, name: string): DeepReadonly<Secret> | undefined;
}

export interface IngressPolicy {
  /** True when Ingresses of several namespaces may have rules for one host. */
  readonly sharesHosts: boolean;
  /** True when Services of the type ExternalName are served. */
  readonly allowsExternalNames: boolean;
}

interface WorldChanges {
  /** Services that have changed, or whose EndpointSlices have, as `namespace/name`. */
  readonly services: ReadonlySet<string>;
  /** True when any Secret has changed. */
  readonly secrets: boolean;
}

/** Backends by the Service that they lead to, and by key. */
type WantedBackends = ReadonlyMap<string, ReadonlyMap<string, WantedBackend>>;

interface WantedBackend {
  readonly namespace: string;
  readonly service: NonNullable<IngressBackend>['service'];
}

export interface IngressPlan {
  readonly config: IngressConfig;
  /** Ingresses, hosts and backends that are not served, and why. */
  readonly problems: readonly IngressProblem[];
  /** State from which the next plan continues. */
  readonly ingresses: readonly SeenIngress[];
  readonly rules: RulesByName;
  readonly merged: MergedHosts;
  readonly wanted: WantedBackends;
  readonly ownership: HostOwners;
  readonly rejections: Rejections;
}

/**
 * Plans the configuration. When two rules have the same host and path, that of the older Ingress counts; hosts belong
 * to the namespace of the oldest one.
 */
export function* planIngress(
  world: IngressWorld,
  before: IngressPlan | undefined,
  pace: Pace,
): DividedWork<IngressPlan> {
  const { ingresses } = world;
  const known = before?.ingresses === ingresses ? before : undefined;
  const rules = known?.rules ?? (yield* rulesByAge(ingresses, before?.rules, pace));
  const ownership = known?.ownership ?? (yield* hostOwners(rules, world.policy.sharesHosts, pace));
  const { owners } = ownership;
  const isServed = (host: string, namespace: string) => mayServe(owners, host, namespace);
  const merged = known?.merged ?? (yield* mergedHosts(rules, { before: before?.merged, isServed }, pace));
  const wanted = known?.wanted ?? (yield* wantedBackends(rules, pace));
  const rejections = yield* rejectedBackends(world, { wanted, known }, pace);
  const unserved = yield* backendProblems(rules, rejections, pace);
  const config: IngressConfig = {
    hosts: merged.hosts,
    owners,
    defaultBackend: known ? known.config.defaultBackend : firstDefault(rules, owners),
    backends: known ? yield* changedBackends(world, known, pace) : yield* allBackends(world, { wanted, before }, pace),
    certificates:
      known && !world.changes.secrets
        ? known.config.certificates
        : yield* certificatesOf(world.secret, { rules, owners, known: before?.config.certificates }, pace),
  };
  return {
    config,
    problems: [...ownership.problems, ...unserved],
    ingresses,
    rules,
    merged,
    wanted,
    ownership,
    rejections,
  };
}

function firstDefault(rules: RulesByName, owners: HostOwners['owners']): string | undefined {
  for (const each of rules.values()) {
    if (each.defaultBackend !== undefined && mayServe(owners, ALL_HOSTS, namespaceOf(each))) return each.defaultBackend;
  }
  return undefined;
}

function* rejectedBackends(
  world: IngressWorld,
  { wanted, known }: { readonly wanted: WantedBackends; readonly known: IngressPlan | undefined },
  pace: Pace,
): DividedWork<Rejections> {
  const { changes, policy } = world;
  const rejections = new Map(known?.rejections);
  for (const service of known ? changes.services : wanted.keys()) {
    const rejected = new Map<string, Rejection>();
    for (const [key, backend] of wanted.get(service) ?? []) {
      if (pace.isSpent()) yield;
      if (!backend.service) continue;
      const found = world.service(backend.namespace, backend.service.name);
      const rejection = rejectionOf(backend.service, found, policy.allowsExternalNames);
      if (rejection) rejected.set(key, rejection);
    }
    if (rejected.size > 0) rejections.set(service, rejected);
    else rejections.delete(service);
  }
  return rejections;
}

function* wantedBackends(rules: RulesByName, pace: Pace): DividedWork<WantedBackends> {
  const wanted = new Map<string, Map<string, WantedBackend>>();
  for (const { ingress, backends } of rules.values()) {
    const { namespace = '' } = ingress.metadata;
    for (const [key, backend] of backends) {
      if (pace.isSpent()) yield;
      const service = `${namespace}/${backend?.service?.name ?? ''}`;
      const known = wanted.get(service) ?? new Map<string, WantedBackend>();
      wanted.set(service, known.set(key, { namespace, service: backend?.service }));
    }
  }
  return wanted;
}

type Backends = IngressConfig['backends'];

function* allBackends(
  world: IngressWorld,
  { wanted, before }: { readonly wanted: WantedBackends; readonly before: IngressPlan | undefined },
  pace: Pace,
): DividedWork<Backends> {
  const old = before?.config.backends;
  const backends = new Map<string, readonly BackendAddress[]>();
  let isKept = true;
  for (const [service, each] of wanted) {
    const isChanged = world.changes.services.has(service);
    for (const [key, backend] of each) {
      if (pace.isSpent()) yield;
      const known = old?.get(key);
      const addresses = known && !isChanged ? known : addressesOf(world, backend, known);
      if (addresses !== known) isKept = false;
      backends.set(key, addresses);
    }
  }
  return old?.size === backends.size && isKept ? old : backends;
}

/** Returns the changed backends of the plan before: most changes of Services concern none of its Ingresses. */
function* changedBackends(world: IngressWorld, { wanted, config }: IngressPlan, pace: Pace): DividedWork<Backends> {
  const changed = new Map<string, readonly BackendAddress[]>();
  for (const service of world.changes.services) {
    for (const [key, backend] of wanted.get(service) ?? []) {
      if (pace.isSpent()) yield;
      const known = config.backends.get(key);
      const addresses = addressesOf(world, backend, known);
      if (addresses !== known) changed.set(key, addresses);
    }
  }
  if (changed.size === 0) return config.backends;
  const backends = new Map<string, readonly BackendAddress[]>();
  for (const [key, addresses] of config.backends) {
    if (pace.isSpent()) yield;
    backends.set(key, changed.get(key) ?? addresses);
  }
  return backends;
}

/** The ready endpoints behind the port of a service; the known list when they are the same. */
function addressesOf(
  world: IngressWorld,
  { namespace, service: wanted }: WantedBackend,
  known: readonly BackendAddress[] | undefined,
): readonly BackendAddress[] {
  const addresses = [...endpointsOf(world, namespace, wanted)];
  const isKnown =
    known?.length === addresses.length && addresses.every((each, index) => isSameAddress(each, known[index]!));
  return isKnown ? known : addresses;
}

const isSameAddress = (one: BackendAddress, other: BackendAddress) =>
  one.address === other.address && one.port === other.port && one.mayBeOwn === other.mayBeOwn;

function* endpointsOf(
  world: IngressWorld,
  namespace: string,
  wanted: WantedBackend['service'],
): Generator<BackendAddress> {
  const service = wanted && world.service(namespace, wanted.name);
  if (!wanted || !service) return;
  const { number } = wanted.port ?? {};
  if (service.spec.type === 'ExternalName') {
    const isServed = externalNameRejection(service, world.policy.allowsExternalNames) === undefined;
    if (isServed && number && service.spec.externalName) yield { address: service.spec.externalName, port: number };
    return;
  }
  const port = portOf(service, wanted.port);
  if (!port) return;
  let count = 0;
  for (const { ports, endpoints, addressType } of world.slices(namespace, wanted.name)) {
    const target = ports.find((each) => (each.name ?? '') === (port.name ?? '') && each.protocol !== 'UDP')?.port;
    if (target === undefined || addressType === 'FQDN') continue;
    for (const { addresses, conditions, nodeName } of endpoints) {
      if (conditions?.ready === false || !addresses?.[0]) continue;
      if (count++ === MAX_ADDRESSES) return;
      yield { address: addresses[0], port: target, mayBeOwn: nodeName ? true : undefined };
    }
  }
}
