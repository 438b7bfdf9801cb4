import { groupBy } from '../../base/collections/group-by.ts';
import type { NodeInfo } from './node-info.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

/** Interleaves nodes of different zones, so that a search that stops early has covered all zones. */
export function interleaveZones(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = groupBy(nodes, ({ labels }) => `${labels[REGION] ?? ''}/${labels[ZONE] ?? ''}`);
  if (zones.size <= 1) return nodes;
  const out: NodeInfo[] = [];
  const lists = [...zones.values()];
  for (let position = 0; out.length < nodes.length; position++) {
    for (const list of lists) if (position < list.length) out.push(list[position]!);
  }
  return out;
}
