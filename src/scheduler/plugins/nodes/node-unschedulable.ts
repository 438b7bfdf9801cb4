/** A cordoned node takes only pods that tolerate the cordon. */
import { isTolerated } from '../../../kinds/placement/tolerations.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';

/** `kubectl cordon` as a taint. */
const CORDONED = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const CORDON = rejection('node(s) were unschedulable');

export const nodeUnschedulable: Plugin<undefined> = {
  name: 'NodeUnschedulable',
  preFilter({ pod }, { cluster }) {
    if (cluster.nodesWith.cordon === 0 || isTolerated(CORDONED, pod.spec.tolerations)) return SKIP;
    return { type: 'go', state: undefined };
  },
  filter(_, node) {
    return node.isCordoned ? CORDON : undefined;
  },
  hints: {
    Node: ({ type, object, old }) =>
      !object.spec.unschedulable && (type === 'add' || (type === 'update' && (old.spec.unschedulable ?? false))),
    Pod: ({ type, object }, { uid }) =>
      type === 'update' && object.metadata.uid === uid && isTolerated(CORDONED, object.spec.tolerations),
  },
};
