/** A pod that names its node fits only there. */
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';

const OTHER = rejection("node(s) didn't match the requested node name");

export const nodeName: Plugin<string> = {
  name: 'NodeName',
  preFilter({ pod }) {
    return pod.spec.nodeName ? { type: 'go', state: pod.spec.nodeName } : SKIP;
  },
  filter(_, node, wanted) {
    return node.name === wanted ? undefined : OTHER;
  },
  hints: { Node: ({ type }) => type === 'add' },
};
