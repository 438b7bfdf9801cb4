import { indexBy } from '../../base/collections/index-by.ts';
import { memoized } from '../../base/collections/memoized.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { PersistentVolumeClaim } from '../groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../groups/core/pod/pod.ts';
import { Service } from '../groups/core/service/service.ts';
import type { DeviceRequest } from '../groups/resource/device-claim.ts';
import { ResourceClaim } from '../groups/resource/resource-claim.ts';
import type { Kind } from '../kind.ts';
import type { Amounts } from '../shapes/pod/pod-resources.ts';
import { NOTHING, ONE } from './amounts.ts';
import { claimUsage } from './claims.ts';
import type { QuotaEvaluator, Requirement } from './evaluator.ts';
import { podUsage } from './pods.ts';

const COUNT = 'count/resourceclaims.resource.k8s.io';
/** `gpu.deviceclass.resource.k8s.io/devices`: devices of the class `gpu`. */
const OF_CLASS = '.deviceclass.resource.k8s.io/devices';
/** Count for a request for all devices: no claim is allocated more. */
const MAX_DEVICES = 32;

type Alternative = Pick<NonNullable<DeviceRequest['exactly']>, 'deviceClassName' | 'allocationMode' | 'count'>;

const resourceClaimUsage: QuotaEvaluator<ResourceClaim> = {
  counts: (resource) => resource === COUNT || resource.endsWith(OF_CLASS),

  usage({ spec }) {
    const devices = new Map<string, number>();
    for (const request of spec.devices.requests ?? []) {
      for (const [name, count] of worstCase(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const used: Amounts = new Map([[COUNT, ONE]]);
    for (const [name, count] of devices) used.set(name + OF_CLASS, parseQuantity(String(count)));
    return used;
  },

  isIn: () => false,
};

const known = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

const serviceUsage: QuotaEvaluator<Service> = {
  counts: (resource) => known.has(resource),

  usage({ spec }) {
    return new Map([
      ['count/services', ONE],
      ['services', ONE],
      ['services.nodeports', parseQuantity(String(nodePorts(spec)))],
      ['services.loadbalancers', spec.type === 'LoadBalancer' ? ONE : NOTHING],
    ]);
  },

  isIn: () => false,
};

const special = new Map<Kind, QuotaEvaluator>([
  [Pod, podUsage],
  [Service, serviceUsage],
  [PersistentVolumeClaim, claimUsage],
  [ResourceClaim, resourceClaimUsage],
]);

/** Kinds that quotas can also count by their plain name, without `count/`. */
const plain = ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'];
/** Kinds that no quota counts. */
const uncounted = ['Event'];

/** Returns the evaluator of a kind; undefined when no quota counts it. */
export function evaluatorOf(kind: Kind): QuotaEvaluator | undefined {
  if (!isCountable(kind)) return undefined;
  return special.get(kind) ?? plainCount(kind);
}

const plainCount = memoized(countOf);

function isCountable({ scope, kind, verbs }: Kind): boolean {
  return scope === 'Namespaced' && !uncounted.includes(kind) && (!verbs || verbs.includes('list'));
}

function countOf({ group, plural }: Kind): QuotaEvaluator {
  const names = [`count/${group ? `${plural}.${group}` : plural}`];
  if (group === '' && plain.includes(plural)) names.push(plural);
  const used = new Map(names.map((name) => [name, ONE]));
  return { counts: (resource) => names.includes(resource), usage: () => used, isIn: () => false };
}

interface Scoped {
  readonly spec: {
    readonly scopes?: readonly string[];
    readonly scopeSelector?: { readonly matchExpressions?: readonly Requirement[] };
  };
}

/** Returns the scopes that an object must be in for the quota to count it; none when it counts all objects. */
function scopesOf({ spec }: Scoped): readonly Requirement[] {
  const plainScopes = (spec.scopes ?? []).map((scopeName): Requirement => ({ scopeName, operator: 'Exists' }));
  return [...plainScopes, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

/** Number of scopes up to which duplicates are not looked for: most quotas have a few at most. */
const MAX_COMPARED_SCOPES = 8;

/** Leaves out repeated scopes: whether an object is in one may depend on all of its containers. */
function distinct(scopes: readonly Requirement[]): readonly Requirement[] {
  if (scopes.length <= MAX_COMPARED_SCOPES) return scopes;
  const identity = ({ scopeName, operator, values = [] }: Requirement) => JSON.stringify([scopeName, operator, values]);
  return [...indexBy(scopes, identity).values()];
}

/** Reports whether the quota counts the object. */
export function covers(quota: Scoped, evaluator: QuotaEvaluator, object: unknown): boolean {
  return distinct(scopesOf(quota)).every((scope) => evaluator.isIn(object, scope));
}

function nodePorts({ type, ports = [], allocateLoadBalancerNodePorts }: Service['spec']): number {
  if (type !== 'NodePort' && type !== 'LoadBalancer') return 0;
  const isAsked = type === 'NodePort' || allocateLoadBalancerNodePorts !== false;
  return isAsked ? ports.length : ports.filter(({ nodePort }) => nodePort).length;
}

/** The most devices of each class that a request can be allocated. One of its alternatives is. */
function worstCase({ exactly, firstAvailable = [] }: DeviceRequest): Map<string, number> {
  const alternatives: readonly Alternative[] = exactly && firstAvailable.length === 0 ? [exactly] : firstAvailable;
  const most = new Map<string, number>();
  for (const each of alternatives) {
    most.set(each.deviceClassName, Math.max(most.get(each.deviceClassName) ?? 0, devicesOf(each)));
  }
  return most;
}

function devicesOf({ allocationMode, count = 0 }: Alternative): number {
  if (allocationMode === 'All') return MAX_DEVICES;
  return allocationMode === 'ExactCount' ? count : 0;
}
