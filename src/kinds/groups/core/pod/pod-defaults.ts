/** Defaults of pods that do not apply to the templates of controllers. */

import type { Container } from '../../../shapes/container/container.ts';
import type { ResourceList } from '../../../shapes/container/resources.ts';
import type { LabelSelector } from '../../../shapes/meta/label-selector.ts';
import { fillPodResources } from '../../../shapes/pod/pod-resources.ts';
import type { PodSpec } from '../../../shapes/pod/pod-spec.ts';
import type { PodAffinityTerm } from '../../../shapes/pod/scheduling/affinity.ts';
import type { Pod } from './pod-fields.ts';

/** Idempotent. Objects below the containers may be shared with other pods: they are replaced, never changed. */
export function fillPodDefaults(spec: PodSpec): void {
  spec.enableServiceLinks ??= true;
  for (const list of [spec.containers, spec.initContainers]) {
    for (const container of list ?? []) {
      requestLimits(container);
      if (spec.hostNetwork) openHostPorts(container);
    }
  }
  fillPodResources(spec);
}

/** Requests default to limits. */
function requestLimits(container: Container): void {
  const { limits, requests } = container.resources;
  if (!limits || hasAll(requests, limits)) return;
  container.resources = { ...container.resources, requests: { ...limits, ...requests } };
}

function hasAll(requests: ResourceList | undefined, limits: ResourceList): boolean {
  if (!requests) return false;
  for (const name in limits) if (!Object.hasOwn(requests, name)) return false;
  return true;
}

function openHostPorts(container: Container): void {
  if (!container.ports?.some(isClosed)) return;
  container.ports = container.ports.map((port) => (isClosed(port) ? { ...port, hostPort: port.containerPort } : port));
}

function isClosed({ containerPort, hostPort }: NonNullable<Container['ports']>[number]): boolean {
  return Boolean(containerPort) && hostPort === undefined;
}

type LabelKeys = Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>;
type Labels = Readonly<Record<string, string>>;
type Terms = NonNullable<NonNullable<PodSpec['affinity']>['podAffinity']>;

/** Adds `matchLabelKeys` and `mismatchLabelKeys` to their selectors, with the pod's label values. On create only. */
export function mergeLabelKeys({ spec, metadata: { labels = {} } }: Pod): void {
  const { affinity, topologySpreadConstraints } = spec;
  if (affinity?.podAffinity || affinity?.podAntiAffinity) {
    const next = { ...affinity };
    if (affinity.podAffinity) next.podAffinity = mergedTerms(affinity.podAffinity, labels);
    if (affinity.podAntiAffinity) next.podAntiAffinity = mergedTerms(affinity.podAntiAffinity, labels);
    spec.affinity = next;
  }
  if (topologySpreadConstraints) {
    spec.topologySpreadConstraints = topologySpreadConstraints.map((each) => merged(each, labels));
  }
}

function mergedTerms(terms: Terms, labels: Labels): Terms {
  const required = terms.requiredDuringSchedulingIgnoredDuringExecution;
  const preferred = terms.preferredDuringSchedulingIgnoredDuringExecution;
  const next = { ...terms };
  if (required) next.requiredDuringSchedulingIgnoredDuringExecution = required.map((each) => merged(each, labels));
  if (preferred) {
    next.preferredDuringSchedulingIgnoredDuringExecution = preferred.map((each) => ({
      ...each,
      podAffinityTerm: merged(each.podAffinityTerm, labels),
    }));
  }
  return next;
}

function merged<T extends LabelKeys>(term: T, labels: Labels): T {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (!labelSelector) return term;
  const added = [...select(matchLabelKeys, 'In', labels), ...select(mismatchLabelKeys, 'NotIn', labels)];
  if (added.length === 0) return term;
  const matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added];
  return { ...term, labelSelector: { ...labelSelector, matchExpressions } };
}

function select(
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Labels,
): NonNullable<LabelSelector['matchExpressions']> {
  return keys.filter((key) => Object.hasOwn(labels, key)).map((key) => ({ key, operator, values: [labels[key]!] }));
}
