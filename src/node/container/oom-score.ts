/** Which containers the kernel kills first when the machine runs out of memory. */
import { parseQuantity, scaled } from '../../base/quantity.ts';
import type { PodSpec } from '../../kinds/shapes/pod/pod-spec.ts';
import { qosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';

const GUARANTEED = -997;
const BEST_EFFORT = 1000;
const MIN_BURSTABLE = 1000 + GUARANTEED;
const NODE_CRITICAL_PRIORITY = 2_000_001_000;

/** A burstable container that requests a tenth of the memory gets 900: more than its request makes it the first to go. */
export function oomScoreAdjustment(pod: SeenPod, container: SeenContainer, memoryBytes: number): number {
  if ((pod.spec.priority ?? 0) >= NODE_CRITICAL_PRIORITY) return GUARANTEED;
  const quality = pod.status?.qosClass ?? qosClass(pod.spec as PodSpec);
  if (quality === 'Guaranteed') return GUARANTEED;
  if (quality === 'BestEffort') return BEST_EFFORT;
  const share = unrequestedShare(pod);
  const scoreOf = (request: number) => 1000 - Math.trunc((1000 * (request + share)) / memoryBytes);
  let score = scoreOf(memoryRequest(container));
  if (isSidecar(pod, container)) {
    score = Math.min(score, scoreOf(Math.min(...pod.spec.containers.map(memoryRequest))));
  }
  return Math.min(Math.max(score, MIN_BURSTABLE), BEST_EFFORT - 1);
}

/** Computes the share of each container in what the pod requests beyond its containers. */
function unrequestedShare({ spec }: SeenPod): number {
  const requested = spec.resources?.requests?.memory;
  if (requested === undefined) return 0;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const sharing = [...spec.containers, ...sidecars];
  const rest = bytesOf(requested) - sharing.reduce((sum, each) => sum + memoryRequest(each), 0);
  return rest > 0 ? Math.trunc(rest / sharing.length) : 0;
}

const memoryRequest = ({ resources }: Pick<SeenContainer, 'resources'>): number =>
  bytesOf(resources?.requests?.memory ?? '0');

const bytesOf = (text: string): number => Number(scaled(parseQuantity(text), 0));

const isSidecar = ({ spec }: SeenPod, { name }: SeenContainer): boolean =>
  (spec.initContainers ?? []).some((each) => each.name === name && each.restartPolicy === 'Always');
