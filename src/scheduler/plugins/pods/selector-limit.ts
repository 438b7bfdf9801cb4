/**
 * A pod that selects other pods or nodes in very many ways is not scheduled: each of its terms, constraints and requirements
 * is compared with every pod or node of the cluster, in one event-loop turn.
 */
import { MAX_NODE_SELECTION, MAX_SELECTION, nodeSelectionOf, selectionOf } from '../../cluster/selection.ts';
import { type Plugin, type Rejection, rejection, SKIP } from '../../framework/plugin.ts';
import type { Pod } from '../../objects.ts';

const TOO_MANY = rejection(
  `the pod's affinity terms and spread constraints have more than ${MAX_SELECTION} requirements`,
);
const TOO_MANY_NODES = rejection(`the pod's node affinity has more than ${MAX_NODE_SELECTION} requirements`);

export const selectorLimit: Plugin = {
  name: 'SelectorLimit',
  preFilter({ pod }) {
    const excess = excessOf(pod);
    return excess ? { type: 'reject', rejection: excess } : SKIP;
  },
  hints: {
    Pod: ({ type, object }, { uid }) => type === 'update' && object.metadata.uid === uid && !excessOf(object),
  },
};

function excessOf(pod: Pod): Rejection | undefined {
  if (selectionOf(pod) > MAX_SELECTION) return TOO_MANY;
  return nodeSelectionOf(pod) > MAX_NODE_SELECTION ? TOO_MANY_NODES : undefined;
}
