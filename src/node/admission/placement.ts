/** Whether the pod belongs on the node: affinity, name, host ports, taints that evict. */
import { requiredNodes } from '../../kinds/placement/required-nodes.ts';
import { isTolerated } from '../../kinds/placement/tolerations.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { isStatic } from './critical.ts';
import type { Refusal, SeenNode } from './refusal.ts';

const ANY_ADDRESS = '0.0.0.0';

export function placementRefusals(pod: SeenPod, node: SeenNode, others: readonly SeenPod[]): readonly Refusal[] {
  const { spec } = pod;
  const found: Refusal[] = [];
  const places = requiredNodes(spec);
  if (places && !places(node.metadata)) {
    found.push(predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector"));
  }
  if (spec.nodeName && spec.nodeName !== node.metadata.name) {
    found.push(predicate('NodeName', "node(s) didn't match the requested node name"));
  }
  if (hasPortConflict(pod, others)) {
    found.push(predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports"));
  }
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

function hasPortConflict(pod: SeenPod, others: readonly SeenPod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const taken = new Set<string>();
  const takenAnywhere = new Set<string>();
  for (const { key, address } of others.flatMap(hostPortsOf)) {
    taken.add(`${key} ${address}`);
    takenAnywhere.add(key);
  }
  return wanted.some(({ key, address }) =>
    address === ANY_ADDRESS
      ? takenAnywhere.has(key)
      : taken.has(`${key} ${address}`) || taken.has(`${key} ${ANY_ADDRESS}`),
  );
}

function hostPortsOf({ spec }: SeenPod): { key: string; address: string }[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ key: `${protocol ?? 'TCP'} ${hostPort}`, address: hostIP || ANY_ADDRESS }] : [],
    ),
  );
}
