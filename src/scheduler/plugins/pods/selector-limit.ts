/**
 * A pod that selects other pods or nodes in very many ways is not scheduled: each of its terms, constraints and requirements
 * is compared with every pod or node of the cluster, in one event-loop turn.
 */
import { MAX_NODE_SELECTION, MAX_SELECTION, nodeSelectionOf, selectionOf } from '../../cluster/selection.ts';
import { type Plugin, type Refusal, refusal, SKIP } from '../../framework/plugin.ts';
import type { Pod } from '../../objects.ts';

const TOO_MANY = refusal(
  `the pod's affinity terms and spread constraints have more than ${MAX_SELECTION} requirements`,
);
const TOO_MANY_NODES = refusal(`the pod's node affinity has more than ${MAX_NODE_SELECTION} requirements`);

export const selectorLimit: Plugin = {
  name: 'SelectorLimit',
  preFilter({ pod }) {
    const excess = excessOf(pod);
    return excess ? { type: 'refuse', refusal: excess } : SKIP;
  },
  hints: {
    Pod: ({ type, object }, { uid }) => type === 'update' && object.metadata.uid === uid && !excessOf(object),
  },
};

function excessOf(pod: Pod): Refusal | undefined {
  if (selectionOf(pod) > MAX_SELECTION) return TOO_MANY;
  return nodeSelectionOf(pod) > MAX_NODE_SELECTION ? TOO_MANY_NODES : undefined;
}
