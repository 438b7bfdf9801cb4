/** Decides whether a node runs a pod. */
import type { SeenPod } from '../pod/container-run.ts';
import type { PodFailure } from '../pod/plan/state.ts';
import { isCritical } from './critical.ts';
import { placementRefusals } from './placement.ts';
import { platformRefusal } from './platform.ts';
import type { PortInUse } from './ports.ts';
import { choosePreempted } from './preemption.ts';
import { pressureRefusal } from './pressure.ts';
import type { Refusal, SeenNode } from './refusal.ts';
import { shortageRefusal, shortages } from './resources.ts';
import { type SysctlSettings, sysctlRefusal } from './sysctls.ts';

export type Admission =
  | { readonly type: 'admitted' }
  | ({ readonly type: 'refused' } & Refusal)
  /** The pod is critical, and fits when these are gone: they fail with `PREEMPTED`. */
  | { readonly type: 'preempting'; readonly victims: readonly SeenPod[]; readonly lacking: Refusal };

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
  const first = pressureRefusal(pod, node) ?? sysctlRefusal(pod, kernel, settings) ?? platformRefusal(pod, node);
  if (first) return { type: 'refused', ...first };
  const others = podsOnNode.filter((other) => other.metadata.uid !== pod.metadata.uid && !hasEnded(other));
  const lacking = shortages(pod, node, others);
  const misplaced = placementRefusals(pod, node, { others, portsInUse: settings.portsInUse });
  if (lacking.length > 0 && isCritical(pod) && misplaced.length === 0) {
    const { victims, missing } = choosePreempted(pod, others, lacking);
    if (missing.size === 0) return { type: 'preempting', victims, lacking: shortageRefusal(lacking[0]!) };
    const open = [...missing].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join('');
    const why = `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${open}]`;
    const message = `Unexpected error while attempting to recover from admission failure: ${why}`;
    return { type: 'refused', reason: 'UnexpectedAdmissionError', message };
  }
  // Shortages are no reason to refuse a critical pod.
  const refusals = isCritical(pod) ? misplaced : [...lacking.map(shortageRefusal), ...misplaced];
  return refusals[0] ? { type: 'refused', ...refusals[0] } : { type: 'admitted' };
}

function hasEnded({ status }: SeenPod): boolean {
  return status.phase === 'Failed' || status.phase === 'Succeeded';
}
