/** The pod of a DaemonSet on a node. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { controllerOf } from '../../../client/informer/object-cache.ts';
import { templateGenerationOf } from '../../../kinds/conversion/template-generation.ts';
import { DaemonSet } from '../../../kinds/groups/apps/daemon-set.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { NAME } from '../../../kinds/placement/node-selector.ts';
import { namedNode } from '../../../kinds/placement/required-nodes.ts';
import type { Toleration } from '../../../kinds/shapes/pod/scheduling/toleration.ts';
import { REVISION_LABEL } from '../../shared/history/history.ts';
import { newPod } from '../../shared/pods/new-pod.ts';

export type SeenDaemonSet = DeepReadonly<DaemonSet>;
type PodSpec = SeenPod['spec'];
type SeenToleration = DeepReadonly<Toleration>;

/** The template generation, for clients from before revisions. */
const GENERATION_LABEL = 'pod-template-generation';

/** Assigned to the node by an affinity to its name, so that the scheduler places it. */
export function daemonPod(daemonSet: SeenDaemonSet, node: string, hash: string): Draft<Pod> {
  const { template } = daemonSet.spec;
  const generation = templateGenerationOf(daemonSet);
  const labels = {
    ...template.metadata?.labels,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: String(generation) }),
    [REVISION_LABEL]: hash,
  };
  const spec = { ...template.spec, tolerations: tolerationsOf(template.spec), affinity: boundTo(node, template.spec) };
  return newPod(daemonSet, DaemonSet, { metadata: { ...template.metadata, labels }, spec } as never);
}

/** Returns the node that the pod is on or meant for; undefined for none. */
export function targetNode({ spec }: SeenPod): string | undefined {
  return spec.nodeName || namedNode(spec);
}

/** An index: pods of a DaemonSet by the node that they are on or meant for. */
export function bySetAndNode(pod: SeenPod): readonly string[] {
  const owner = controllerOf(pod);
  const node = owner?.kind === DaemonSet.kind ? targetNode(pod) : undefined;
  return node === undefined ? [] : [setAndNode(owner?.uid, node)];
}

export const setAndNode = (uid: string | undefined, node: string) => `${uid}/${node}`;

export type PodTest = (pod: SeenPod) => boolean;

export function updatedTest(daemonSet: SeenDaemonSet, hash: string): PodTest {
  const generation = templateGenerationOf(daemonSet);
  const text = generation === undefined ? undefined : String(generation);
  return ({ metadata: { labels } }) =>
    labels?.[REVISION_LABEL] === hash || (text !== undefined && labels?.[GENERATION_LABEL] === text);
}

const toleration = (key: string, effect: string): SeenToleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect,
});

/** Daemon pods stay on unhealthy nodes, and start where other pods may not. */
const DAEMON_TOLERATIONS: readonly SeenToleration[] = [
  toleration('not-ready', 'NoExecute'),
  toleration('unreachable', 'NoExecute'),
  toleration('disk-pressure', 'NoSchedule'),
  toleration('memory-pressure', 'NoSchedule'),
  toleration('pid-pressure', 'NoSchedule'),
  toleration('unschedulable', 'NoSchedule'),
];

/** Pods that set up the network must not wait for it. */
const HOST_NETWORK_TOLERATION = toleration('network-unavailable', 'NoSchedule');

/** The template's tolerations and those of every daemon pod, which replace others for the same taint. */
export function tolerationsOf({ tolerations = [], hostNetwork }: PodSpec): readonly SeenToleration[] {
  const added = hostNetwork ? [...DAEMON_TOLERATIONS, HOST_NETWORK_TOLERATION] : DAEMON_TOLERATIONS;
  const isSame = (a: SeenToleration, b: SeenToleration) =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '');
  return [
    ...tolerations.map((own) => added.find((each) => isSame(each, own)) ?? own),
    ...added.filter((each) => !tolerations.some((own) => isSame(each, own))),
  ];
}

/** The node satisfies the rest of the required affinity: it was chosen by it. */
function boundTo(node: string, { affinity }: PodSpec): DeepReadonly<PodSpec['affinity']> {
  const nodeSelectorTerms = [{ matchFields: [{ key: NAME, operator: 'In', values: [node] }] }];
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
}
