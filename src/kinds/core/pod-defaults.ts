/** What a pod gets besides the defaults of its shapes; the template of a controller does not. */
import type { PodAffinityTerm } from '../shapes/affinity.ts';
import type { Container } from '../shapes/container.ts';
import type { LabelSelector } from '../shapes/label-selector.ts';
import { fillPodResources } from '../shapes/pod-resources.ts';
import type { PodSpec } from '../shapes/pod-spec.ts';
import type { Pod } from './pod.ts';

/** May run again and again. */
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

/** What is limited and not requested is requested up to the limit. */
function requestLimits({ resources }: Container): void {
  const { limits, requests } = resources;
  if (!limits) return;
  if (requests && Object.keys(limits).every((name) => Object.hasOwn(requests, name))) return;
  resources.requests = { ...limits, ...requests };
}

function openHostPorts({ ports }: Container): void {
  for (const port of ports ?? []) if (port.containerPort) port.hostPort ??= port.containerPort;
}

type LabelKeys = Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>;

/** Label keys become part of the selectors beside them, with the values that this pod has. Once, when it is made. */
export function mergeLabelKeys({ spec, metadata: { labels = {} } }: Pod): void {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  for (const affinity of [podAffinity, podAntiAffinity]) {
    affinity?.requiredDuringSchedulingIgnoredDuringExecution?.forEach((term) => {
      mergeInto(term, labels);
    });
    affinity?.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ podAffinityTerm }) => {
      mergeInto(podAffinityTerm, labels);
    });
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) mergeInto(constraint, labels);
}

function mergeInto(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: LabelKeys,
  labels: Readonly<Record<string, string>>,
): void {
  if (!labelSelector) return;
  const added = [...select(matchLabelKeys, 'In', labels), ...select(mismatchLabelKeys, 'NotIn', labels)];
  if (added.length) labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added];
}

function select(
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): NonNullable<LabelSelector['matchExpressions']> {
  return keys.filter((key) => Object.hasOwn(labels, key)).map((key) => ({ key, operator, values: [labels[key]!] }));
}
