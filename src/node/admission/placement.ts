/** Checks that the pod belongs on the node: affinity, name, ports, taints that evict. */
import { requiredNodes } from '../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../kinds/placement/tolerations.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { isStatic } from './critical.ts';
import { type PortUsers, portRefusal } from './ports.ts';
import type { Refusal, SeenNode } from './refusal.ts';

export function placementRefusals(pod: SeenPod, node: SeenNode, users: PortUsers): readonly Refusal[] {
  const { spec } = pod;
  const found: Refusal[] = [];
  const places = requiredNodes(spec);
  if (places && !places(node.metadata)) {
    found.push(predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector"));
  }
  if (spec.nodeName && spec.nodeName !== node.metadata.name) {
    found.push(predicate('NodeName', "node(s) didn't match the requested node name"));
  }
  const occupied = portRefusal(pod, node, users);
  if (occupied) found.push(occupied);
  const repels = (node.spec.taints ?? []).some(
    (taint) => taint.effect === 'NoExecute' && !isTolerated(taint, spec.tolerations ?? []),
  );
  if (repels && !isStatic(pod)) {
    found.push(predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate"));
  }
  return found;
}

function predicate(name: string, description: string): Refusal {
  return { reason: name, message: `Predicate ${name} failed: ${description}` };
}
