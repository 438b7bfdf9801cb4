/** A node that runs out of something takes no more pods; one that runs out of memory only takes those with requests. */

import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { isTolerated } from '../../kinds/placement/tolerations.ts';
import { qosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { isCritical } from './critical.ts';
import type { Rejection, SeenNode } from './rejection.ts';

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];
const MEMORY_TAINT = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

export function pressureRejection(pod: SeenPod, node: SeenNode): Rejection | undefined {
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
