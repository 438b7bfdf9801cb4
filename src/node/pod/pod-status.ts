/** Builds the status that the kubelet reports for a pod. */

import { timestamp } from '../../base/time/timestamp.ts';
import { shownRestarts } from '../../kinds/groups/core/pod/status/restart-counts.ts';
import { type Condition, conditionsOf, type Observed } from './conditions.ts';
import {
  type ContainerRun,
  isReady,
  type Role,
  type RunState,
  type SeenContainer,
  type Termination,
} from './container-run.ts';
import { containerOf } from './phase.ts';
import { messageLimit, truncated } from './termination-message.ts';

export interface Report extends Observed {
  readonly startTime: number;
  readonly hostIP: string;
  readonly podIP: string | undefined;
  /** All its addresses, the first one included. Absent: there is one at most. */
  readonly podIPs?: readonly string[];
  /** The requests of all containers together that the node has admitted, and the pod-level resources in effect. */
  readonly ofPod?: { readonly allocatedResources: object | undefined; readonly resources: object | undefined };
  /** Why the pod failed as a whole, when no container explains it. */
  readonly failure?: { readonly reason: string; readonly message: string } | undefined;
}

/** Fields without a value are undefined, so that all statuses have one shape. */
export function podStatus(report: Report, before: readonly Condition[]) {
  const { pod, phase, startTime, hostIP, podIP, podIPs, failure } = report;
  const { generation } = pod.metadata;
  const init = statusesOf(report, ['init', 'sidecar']);
  const ephemeral = statusesOf(report, ['ephemeral']);
  return {
    observedGeneration: generation || undefined,
    phase,
    reason: failure?.reason,
    message: failure?.message,
    conditions: conditionsOf(report, before),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: podIP || undefined,
    podIPs: podIP ? (podIPs ?? [podIP]).map((ip) => ({ ip })) : undefined,
    startTime: timestamp(startTime),
    allocatedResources: report.ofPod?.allocatedResources,
    resources: report.ofPod?.resources,
    initContainerStatuses: init.length > 0 ? init : undefined,
    containerStatuses: statusesOf(report, ['main']),
    ephemeralContainerStatuses: ephemeral.length > 0 ? ephemeral : undefined,
  };
}

function statusesOf({ pod, runs }: Report, roles: readonly Role[]) {
  const maxBytes = messageLimit(runs.length);
  return runs
    .filter(({ role }) => roles.includes(role))
    .map((run) => containerStatus(run, containerOf(pod, run), maxBytes));
}

const NO_RESOURCES = Object.freeze({});
const NO_STATE = Object.freeze({});

/** `maxBytes` limits its termination message. */
export function containerStatus(run: ContainerRun, { resources }: SeenContainer, maxBytes: number) {
  const { name, role, state, last, image, imageID } = run;
  const id = state.type === 'waiting' ? last?.id : state.id;
  const actual = run.actual ?? resources;
  const allocated = run.isResizeRejected ? actual : resources;
  return {
    name,
    state: stateOf(state, maxBytes),
    lastState: last ? { terminated: terminated(last, maxBytes) } : NO_STATE,
    ready: isReady(run),
    restartCount: shownRestarts(run.restarts),
    image,
    imageID,
    containerID: id || undefined,
    started: role === 'ephemeral' ? undefined : state.type === 'running' && role !== 'init' && run.started !== false,
    allocatedResources: allocated?.requests,
    // The server knows by them that the node can resize a running container.
    resources: state.type === 'running' || actual?.requests || actual?.limits ? (actual ?? NO_RESOURCES) : undefined,
  };
}

function stateOf(state: RunState, maxBytes: number) {
  switch (state.type) {
    case 'waiting':
      return { waiting: { reason: state.reason, message: state.message || undefined } };
    case 'running':
      return { running: { startedAt: timestamp(state.since) } };
    case 'ended':
      return { terminated: terminated(state, maxBytes) };
  }
}

function terminated({ exitCode, reason, message, startedAt, finishedAt, id }: Termination, maxBytes: number) {
  return {
    exitCode,
    reason,
    message: message ? truncated(message, maxBytes) : undefined,
    startedAt: startedAt === undefined ? undefined : timestamp(startedAt),
    // A container that never ran has no times.
    finishedAt: id === '' && startedAt === undefined ? undefined : timestamp(finishedAt),
    containerID: id || undefined,
  };
}
