/** Node selector and node affinity. */
import { type NodeTest, nodeSelectorTerm } from '../../../kinds/placement/node-selector.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';
import { proportional } from '../../framework/scores.ts';
import type { Node } from '../../objects.ts';

const MISMATCH = rejection("node(s) didn't match Pod's node affinity/selector");
const CONFLICT = rejection('pod affinity terms conflict');

type Preferences = readonly { readonly weight: number; readonly holds: NodeTest }[];

export const nodeAffinity: Plugin<NodeTest, Preferences> = {
  name: 'NodeAffinity',
  preFilter(pod) {
    const { places, named } = pod;
    if (!places) return SKIP;
    if (named?.size === 0) return { type: 'reject', rejection: CONFLICT };
    return { type: 'go', state: places, nodes: named };
  },
  filter(_, node, places) {
    return places(node) ? undefined : MISMATCH;
  },
  weight: 2,
  preScore({ pod }) {
    const list = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
    if (!list?.length) return undefined;
    return list.map(({ weight, preference }) => ({ weight, holds: nodeSelectorTerm(preference) }));
  },
  score(_, node, preferences) {
    let sum = 0;
    for (const { weight, holds } of preferences) if (holds(node)) sum += weight;
    return sum;
  },
  normalise: (scores) => proportional(scores),
  hints: {
    Node({ type, object, old }, { places }) {
      const matches = (node: Node) => places?.(node.metadata) ?? true;
      return matches(object) && (type === 'add' || (type === 'update' && !matches(old)));
    },
  },
};
