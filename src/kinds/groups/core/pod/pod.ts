/** The kind Pod. Its updates are checked in pod-update.ts and the files beside it; its shapes are in ../../../shapes. */

import { indexBy } from '../../../../base/collections/index-by.ts';
import type { FieldError } from '../../../../schema/field-error.ts';
import type { RuleContext } from '../../../../schema/schema.ts';
import { age, NONE, name, type Sparse, wide } from '../../../columns/column.ts';
import { elapsed } from '../../../columns/elapsed.ts';
import { type Completion, defineKind, type HookContext } from '../../../kind.ts';
import { qosClass } from '../../../shapes/pod/qos-class.ts';
import { ipWarnings } from '../../../warnings/addresses.ts';
import { podWarnings } from '../../../warnings/pod.ts';
import { podCreateRules, podObjectRules } from './pod-create.ts';
import { fillPodDefaults, mergeLabelKeys } from './pod-defaults.ts';
import { type Pod as PodObject, podFields } from './pod-fields.ts';
import { podState } from './status/pod-state.ts';
import { keepObserved, podStatusRules } from './status/pod-status-update.ts';
import { forgetRestarts } from './status/restart-counts.ts';
import { ephemeralContainersRules, keepAllButEphemeralContainers } from './update/pod-ephemeral-containers.ts';
import { keepAllButResources, resizeRules } from './update/pod-resize.ts';
import { podUpdateRules } from './update/pod-update.ts';

export type Pod = PodObject;

export const Pod = defineKind({
  kind: 'Pod',
  short: ['po'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A group of containers that run together on one node and share an IP address and volumes.',
  versions: { v1: {} },
  fields: podFields,
  resetFields: { status: ['metadata.deletionTimestamp', 'metadata.ownerReferences'] },
  subresources: {
    status: true,
    binding: true,
    eviction: true,
    ephemeralcontainers: true,
    resize: true,
    log: true,
    attach: true,
    exec: true,
    portforward: true,
    proxy: true,
    explain: true,
  },
  selectable: {
    'spec.nodeName': ({ spec }: Pod) => spec.nodeName ?? '',
    'spec.restartPolicy': ({ spec }: Pod) => spec.restartPolicy,
    'spec.schedulerName': ({ spec }: Pod) => spec.schedulerName,
    'spec.serviceAccountName': ({ spec }: Pod) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }: Pod) => String(spec.hostNetwork ?? false),
    'status.phase': ({ status }: Pod) => status.phase ?? '',
    'status.podIP': ({ status }: Pod) => status.podIPs?.[0]?.ip ?? status.podIP ?? '',
    'status.podIPs': ({ status }: Pod) => status.podIPs?.[0]?.ip ?? status.podIP ?? '',
    'status.nominatedNodeName': ({ status }: Pod) => status.nominatedNodeName ?? '',
  },
  generation: true,
  initialStatus: newStatus,
  onCreate: beginLife,
  onUpdate: prepareUpdate,
  onStatusUpdate: keepObserved,
  rules: [podRules],
  warnings: (pod: Pod, old: Pod | undefined, quiet?: object) => (old ? [] : podWarnings(pod, quiet)),
  statusWarnings: addressWarnings,
  gracePeriod,
  fromTemplates: true,
  onExport: ({ metadata, spec }: Pod, exact: boolean) => {
    forgetRestarts(metadata.annotations);
    if (!exact) delete spec.nodeName;
  },
  columns: ({ text }) => [
    name,
    text('Ready', 'Number of ready containers, and number of containers.', (pod) => {
      const { ready, containers } = podState(pod);
      return `${ready}/${containers}`;
    }),
    text('Status', 'State of the pod and its containers, in one word.', (pod) => podState(pod).reason),
    {
      ...text('Restarts', 'Number of container restarts, and time since the last one.', (pod, now) => {
        const { restarts, lastRestart } = podState(pod);
        return restarts > 0 && lastRestart ? `${restarts} (${elapsed(lastRestart, now)} ago)` : String(restarts);
      }),
      changes: (pod) => podState(pod).restarts > 0,
    },
    age,
    ...[
      text('IP', 'IP address of the pod.', ({ status }) => status?.podIPs?.[0]?.ip || NONE),
      text('Node', 'Node that the pod runs on.', ({ spec }) => spec?.nodeName || NONE),
      text(
        'Nominated Node',
        'Node on which other pods are preempted for this one.',
        ({ status }) => status?.nominatedNodeName || NONE,
      ),
      text('Readiness Gates', 'Number of readiness gates that are met, and number of gates.', gates),
    ].map(wide),
  ],
  rows: { completed: podCompletion },
});

function newStatus({ spec }: Pod): Pod['status'] {
  return { phase: 'Pending', qosClass: qosClass(spec) };
}

function beginLife(pod: Pod, { now }: HookContext): void {
  fillPodDefaults(pod.spec);
  mergeLabelKeys(pod);
  pod.status = newStatus(pod);
  if (!pod.spec.schedulingGates) return;
  pod.status.conditions = [
    {
      type: 'PodScheduled',
      status: 'False',
      lastTransitionTime: now,
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    },
  ];
}

function prepareUpdate(pod: Pod, old: Pod, { subresource }: HookContext): void {
  if (subresource === 'ephemeralcontainers') keepAllButEphemeralContainers(pod, old);
  if (subresource === 'resize') keepAllButResources(pod, old);
  fillPodDefaults(pod.spec);
}

function podRules(pod: Pod, { oldRoot: old, subresource, checked }: RuleContext<Pod, Pod>): FieldError[] {
  if (!old) return [...podObjectRules(pod, checked), ...podCreateRules(pod)];
  switch (subresource) {
    case 'status':
      return podStatusRules(pod, old);
    case 'ephemeralcontainers':
      return [...podObjectRules(pod), ...ephemeralContainersRules(pod, old)];
    case 'resize':
      return [...podObjectRules(pod), ...resizeRules(pod, old)];
    case 'binding':
      return [];
    default:
      return [...podObjectRules(pod), ...podUpdateRules(pod, old)];
  }
}

/** A pod that is not scheduled, or that has completed, is deleted at once. */
function gracePeriod({ spec, status }: Pod, asked: number | undefined): number {
  if (!spec.nodeName || status.phase === 'Succeeded' || status.phase === 'Failed') return 0;
  const seconds = asked ?? spec.terminationGracePeriodSeconds;
  return seconds < 0 ? 1 : seconds;
}

function addressWarnings({ status: { podIPs = [], hostIPs = [] } }: Pod): string[] {
  return [
    ...podIPs.flatMap(({ ip = '' }, index) => ipWarnings(`status.podIPs[${index}].ip`, ip)),
    ...hostIPs.flatMap(({ ip = '' }, index) => ipWarnings(`status.hostIPs[${index}].ip`, ip)),
  ];
}

function gates({ spec, status }: Sparse<Pod>): string {
  const wanted = spec?.readinessGates ?? [];
  if (wanted.length === 0) return NONE;
  const conditions = indexBy(status?.conditions, ({ type }) => type);
  const holding = wanted.filter(({ conditionType }) => conditions.get(conditionType)?.status === 'True');
  return `${holding.length}/${wanted.length}`;
}

/** Returns how a pod has completed; undefined while it has not. */
function podCompletion({ status }: Sparse<Pod>): Completion | undefined {
  switch (status?.phase) {
    case 'Succeeded':
      return { reason: 'Succeeded', message: 'The pod has completed successfully.' };
    case 'Failed':
      return { reason: 'Failed', message: 'The pod failed.' };
    default:
      return undefined;
  }
}
