/** Decides whether a node runs a pod. */
import type { SeenPod } from '../pod/container-run.ts';
import type { PodFailure } from '../pod/plan/state.ts';
import { isCritical } from './critical.ts';
import { placementRejections } from './placement.ts';
import { platformRejection } from './platform.ts';
import type { PortInUse } from './ports.ts';
import { choosePreempted } from './preemption.ts';
import { pressureRejection } from './pressure.ts';
import type { Rejection, SeenNode } from './rejection.ts';
import { shortageRejection, shortages } from './resources.ts';
import { type SysctlSettings, sysctlRejection } from './sysctls.ts';

export type Admission =
  | { readonly type: 'admitted' }
  | ({ readonly type: 'rejected' } & Rejection)
  /** The pod is critical, and fits when these are gone: they fail with `PREEMPTED`. */
  | { readonly type: 'preempting'; readonly victims: readonly SeenPod[]; readonly lacking: Rejection };

/** The reason and message of a pod that made room for a critical one. */
export const PREEMPTED: PodFailure = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};

interface AdmissionSettings extends SysctlSettings {
  /** Ports of the machine that are not free for pods. */
  readonly portsInUse: readonly PortInUse[];
}

const DEFAULTS: AdmissionSettings = { allowedUnsafeSysctls: [], portsInUse: [] };

/** `podsOnNode` are all pods that are bound to the node; those that have ended, and the pod itself, do not count. */
export function admission(
  pod: SeenPod,
  node: SeenNode,
  podsOnNode: readonly SeenPod[],
  settings: AdmissionSettings = DEFAULTS,
): Admission {
  const kernel = node.status.nodeInfo?.kernelVersion ?? '';
  const first = pressureRejection(pod, node) ?? sysctlRejection(pod, kernel, settings) ?? platformRejection(pod, node);
  if (first) return { type: 'rejected', ...first };
  const others = podsOnNode.filter((other) => other.metadata.uid !== pod.metadata.uid && !hasEnded(other));
  const lacking = shortages(pod, node, others);
  const misplaced = placementRejections(pod, node, { others, portsInUse: settings.portsInUse });
  if (lacking.length > 0 && isCritical(pod) && misplaced.length === 0) {
    const { victims, missing } = choosePreempted(pod, others, lacking);
    if (missing.size === 0) return { type: 'preempting', victims, lacking: shortageRejection(lacking[0]!) };
    const open = [...missing].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join('');
    const why = `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${open}]`;
    const message = `Unexpected error while attempting to recover from admission failure: ${why}`;
    return { type: 'rejected', reason: 'UnexpectedAdmissionError', message };
  }
  // Shortages are no reason to reject a critical pod.
  const rejections = isCritical(pod) ? misplaced : [...lacking.map(shortageRejection), ...misplaced];
  return rejections[0] ? { type: 'rejected', ...rejections[0] } : { type: 'admitted' };
}

function hasEnded({ status }: SeenPod): boolean {
  return status.phase === 'Failed' || status.phase === 'Succeeded';
}
