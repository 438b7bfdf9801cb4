/** Builds the status that the kubelet reports for a pod. */

import { timestamp } from '../../base/time/timestamp.ts';
import { type Condition, conditionsOf, type Observed } from './conditions.ts';
import type { Role } from './container-run.ts';
import { containerStatus } from './container-status.ts';
import { containerOf } from './phase.ts';
import { messageLimit } from './termination-message.ts';

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
