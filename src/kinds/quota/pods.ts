import { indexBy } from '../../base/collections/index-by.ts';
import { addQuantities, compareQuantities, parseQuantity } from '../../base/quantity.ts';
import type { Pod } from '../groups/core/pod/pod.ts';
import type { Container } from '../shapes/container/container.ts';
import type { ResourceList } from '../shapes/container/resources.ts';
import { type Amounts, containersTogether } from '../shapes/pod/pod-resources.ts';
import { qosClass } from '../shapes/pod/qos-class.ts';
import { isExtended, isHugePages, isNative, isPodLevel } from '../shapes/pod/resource-names.ts';
import type { PodAffinityTerm } from '../shapes/pod/scheduling/affinity.ts';
import { NOTHING, ONE } from './amounts.ts';
import { type QuotaEvaluator, selects } from './evaluator.ts';

const COUNT = 'count/pods';
const compute = ['cpu', 'memory', 'ephemeral-storage'];
const known = new Set([COUNT, 'pods', ...compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])]);

/** A quota on these resources requires every container to specify them, as Kubernetes does. */
const mustBeSaid = ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

export const podUsage: QuotaEvaluator<Pod> = {
  counts(resource) {
    if (known.has(resource) || isHugePages(resource)) return true;
    return resource.startsWith('requests.') && (isHugePages(resource.slice('requests.'.length)) || !isNative(resource));
  },

  usage(pod, now) {
    const used: Amounts = new Map([[COUNT, ONE]]);
    if (!isCharged(pod, now)) return used;
    used.set('pods', ONE);
    return named(used, podAmounts(pod, 'requests'), podAmounts(pod, 'limits'));
  },

  isIn({ spec }, scope) {
    switch (scope.scopeName) {
      case 'Terminating':
        return spec.activeDeadlineSeconds !== undefined;
      case 'NotTerminating':
        return spec.activeDeadlineSeconds === undefined;
      case 'BestEffort':
        return qosClass(spec) === 'BestEffort';
      case 'NotBestEffort':
        return qosClass(spec) !== 'BestEffort';
      case 'PriorityClass':
        return selects(scope, spec.priorityClassName || undefined);
      case 'CrossNamespacePodAffinity':
        return looksElsewhere(spec);
      default:
        return false;
    }
  },

  missing({ spec }, resources) {
    if ([spec.resources?.requests, spec.resources?.limits].some(saysForPod)) return undefined;
    const required = mustBeSaid.filter((name) => resources.includes(name)).sort();
    const lines = required.flatMap((name) => {
      const silent = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].filter((each) => !says(each, name));
      const names = [...new Set(silent.map((each) => each.name))].sort();
      return names.length > 0 ? [`${name} for: ${names.join(',')}`] : [];
    });
    return lines.length > 0 ? `must specify ${lines.join('; ')}` : undefined;
  },
};

const saysForPod = (list: ResourceList | undefined) => Object.keys(list ?? {}).some(isPodLevel);

function says({ resources }: Container, quotaName: string): boolean {
  const isLimit = quotaName.startsWith('limits.');
  const name = quotaName.replace(/^(requests|limits)\./, '');
  return Object.hasOwn((isLimit ? resources.limits : resources.requests) ?? {}, name);
}

/** Reports whether the pod counts: not after it has completed, and not after its grace period. */
function isCharged({ metadata, status }: Pod, now: number): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return false;
  const due = chargedUntil(metadata);
  return due === undefined || now <= due;
}

/** Returns when a pod that is being deleted stops counting, in milliseconds since 1970; undefined for other pods. */
export function chargedUntil({ deletionTimestamp, deletionGracePeriodSeconds }: Pod['metadata']): number | undefined {
  if (!deletionTimestamp || deletionGracePeriodSeconds === undefined) return undefined;
  return Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

/**
 * Returns the resources of a pod as a whole, with pod-level resources, overhead, and the larger amounts during a
 * resize.
 */
export function podAmounts(pod: Pod, part: 'requests' | 'limits'): Amounts {
  const { spec, status } = pod;
  const statuses = statusesOf(status);
  const amounts = containersTogether(spec, part, (container) =>
    effective(status, { wanted: container.resources?.[part], status: statuses.get(container.name), part }),
  );
  const own = spec.resources?.[part] ?? {};
  for (const name in own) if (isPodLevel(name)) amounts.set(name, parseQuantity(own[name]!));
  for (const name in spec.overhead) {
    const before = amounts.get(name);
    // The overhead does not limit a resource that the containers do not limit.
    if (part === 'limits' && (!before || compareQuantities(before, NOTHING) === 0)) continue;
    amounts.set(name, addQuantities(before ?? NOTHING, parseQuantity(spec.overhead[name]!)));
  }
  return amounts;
}

type ContainerStatuses = NonNullable<Pod['status']['containerStatuses']>;

const NO_STATUSES: ReadonlyMap<string, ContainerStatuses[number]> = new Map();

/** Returns statuses with a container's resources, by name. A new pod has none. */
function statusesOf({ containerStatuses = [], initContainerStatuses = [] }: Pod['status']) {
  if (containerStatuses.length === 0 && initContainerStatuses.length === 0) return NO_STATUSES;
  return indexBy([...containerStatuses, ...initContainerStatuses], ({ name }) => name);
}

interface Asked {
  readonly wanted: ResourceList | undefined;
  readonly status: ContainerStatuses[number] | undefined;
  readonly part: 'requests' | 'limits';
}

/** Returns the larger of the desired and the actual amounts while a container is being resized. */
function effective({ conditions = [] }: Pod['status'], { wanted, status, part }: Asked): ResourceList | undefined {
  if (!status?.resources) return wanted;
  const held = [status.resources[part], ...(part === 'requests' ? [status.allocatedResources] : [])];
  const pending = conditions.find(({ type }) => type === 'PodResizePending');
  const lists = pending?.reason === 'Infeasible' ? held : [wanted, ...held];
  const largest: ResourceList = {};
  for (const list of lists) {
    for (const name in list) {
      const before = largest[name];
      if (before === undefined || compareQuantities(parseQuantity(list[name]!), parseQuantity(before)) > 0) {
        largest[name] = list[name]!;
      }
    }
  }
  return largest;
}

/** Adds the amounts under the names that quotas use. */
function named(used: Amounts, requests: Amounts, limits: Amounts): Amounts {
  for (const [name, amount] of requests) {
    if (compute.includes(name) || isHugePages(name)) used.set(name, amount);
    if (compute.includes(name) || isHugePages(name) || isExtended(name)) used.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) if (compute.includes(name)) used.set(`limits.${name}`, amount);
  return used;
}

function looksElsewhere({ affinity }: Pod['spec']): boolean {
  const isElsewhere = ({ namespaces, namespaceSelector }: PodAffinityTerm) =>
    (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined;
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(
    (each) =>
      each?.requiredDuringSchedulingIgnoredDuringExecution?.some(isElsewhere) ||
      each?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) =>
        isElsewhere(podAffinityTerm),
      ),
  );
}
