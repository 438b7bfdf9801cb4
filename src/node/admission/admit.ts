/** Decides whether a node runs a pod. */
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { requiredNodes } from '../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../kinds/placement/tolerations.ts';
import { qosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { PodFailure } from '../pod/plan/state.ts';
import { isCritical, isStatic } from './critical.ts';
import { type PortInUse, type PortUsers, portRejection } from './ports.ts';
import { choosePreempted } from './preemption.ts';
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

const OS_LABEL = 'kubernetes.io/os';
const OS = 'linux';

/** Checks that do not depend on other pods: the operating system, and the abilities of the node. */
function platformRejection({ metadata, spec }: SeenPod, { status }: SeenNode): Rejection | undefined {
  const label = metadata.labels?.[OS_LABEL];
  if (label !== undefined && label !== OS) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec.os !== undefined && spec.os.name !== OS) {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const isStrict = spec.securityContext?.supplementalGroupsPolicy === 'Strict';
  if (isStrict && !status.features?.supplementalGroupsPolicy) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
}

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];
const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/** A node that runs out of something takes no more pods; one that runs out of memory only takes those with requests. */
function pressureRejection(pod: SeenPod, node: SeenNode): Rejection | undefined {
  const pressed = (node.status.conditions ?? [])
    .filter(({ type, status }) => status === 'True' && PRESSURES.includes(type))
    .map(({ type }) => type);
  if (pressed.length === 0 || isCritical(pod)) return undefined;
  if (pressed.length === 1 && pressed[0] === 'MemoryPressure') {
    if (qosClass(pod.spec as Pod['spec']) !== 'BestEffort') return undefined;
    if (isTolerated(MEMORY_TAINT, pod.spec.tolerations ?? [])) return undefined;
  }
  return { reason: 'Evicted', message: `The node had condition: [${pressed.join(' ')}]. ` };
}

/** Checks that the pod belongs on the node: affinity, name, ports, taints that evict. */
function placementRejections(pod: SeenPod, node: SeenNode, users: PortUsers): readonly Rejection[] {
  const { spec } = pod;
  const found: Rejection[] = [];
  const places = requiredNodes(spec);
  if (places && !places(node.metadata)) {
    found.push(predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector"));
  }
  if (spec.nodeName && spec.nodeName !== node.metadata.name) {
    found.push(predicate('NodeName', "node(s) didn't match the requested node name"));
  }
  const occupied = portRejection(pod, node, users);
  if (occupied) found.push(occupied);
  const repels = (node.spec.taints ?? []).some(
    (taint) => taint.effect === 'NoExecute' && !isTolerated(taint, spec.tolerations ?? []),
  );
  if (repels && !isStatic(pod)) {
    found.push(predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate"));
  }
  return found;
}

function predicate(name: string, description: string): Rejection {
  return { reason: name, message: `Predicate ${name} failed: ${description}` };
}
