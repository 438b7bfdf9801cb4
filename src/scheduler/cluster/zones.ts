import type { NodeInfo } from './node-info.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

/** One of each zone after the other, so that a search that ends early has seen all zones. */
export function inTurns(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const node of nodes) {
    const zone = `${node.labels[REGION] ?? ''}/${node.labels[ZONE] ?? ''}`;
    const list = zones.get(zone);
    if (list) list.push(node);
    else zones.set(zone, [node]);
  }
  if (zones.size <= 1) return nodes;
  const out: NodeInfo[] = [];
  const lists = [...zones.values()];
  for (let turn = 0; out.length < nodes.length; turn++) {
    for (const list of lists) if (turn < list.length) out.push(list[turn]!);
  }
  return out;
}
