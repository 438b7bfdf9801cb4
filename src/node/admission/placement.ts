/** Checks that the pod belongs on the node: affinity, name, ports, taints that evict. */
import { requiredNodes } from '../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../kinds/placement/tolerations.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { isStatic } from './critical.ts';
import { type PortUsers, portRejection } from './ports.ts';
import type { Rejection, SeenNode } from './rejection.ts';

export function placementRejections(pod: SeenPod, node: SeenNode, users: PortUsers): readonly Rejection[] {
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
