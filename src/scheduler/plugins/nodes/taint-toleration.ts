/** Rejects nodes with untolerated taints; those with PreferNoSchedule score lower. */
import { isKeptOff, isTolerated, type Toleration } from '../../../kinds/placement/tolerations.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';
import { proportional } from '../../framework/scores.ts';
import { NO_TAINTS } from '../../objects.ts';

const TAINTED = rejection('node(s) had untolerated taint(s)');

type Tolerations = readonly Toleration[];
const NONE: Tolerations = Object.freeze([]);

export const taintToleration: Plugin<Tolerations, Tolerations> = {
  name: 'TaintToleration',
  preFilter({ pod }, { cluster }) {
    if (cluster.nodesWith.taints === 0) return SKIP;
    return { type: 'go', state: pod.spec.tolerations ?? NONE };
  },
  filter(_, { taints }, tolerations) {
    return taints.length > 0 && isKeptOff(tolerations, taints) ? TAINTED : undefined;
  },
  weight: 3,
  preScore({ pod }, { cluster }) {
    if (cluster.nodesWith.preferNoScheduleTaints === 0) return undefined;
    return pod.spec.tolerations?.filter(({ effect }) => !effect || effect === 'PreferNoSchedule') ?? NONE;
  },
  score(_, { taints }, tolerations) {
    let bothering = 0;
    for (const taint of taints) {
      if (taint.effect === 'PreferNoSchedule' && !isTolerated(taint, tolerations)) bothering++;
    }
    return bothering;
  },
  normalise: (scores) => proportional(scores, true),
  hints: {
    Node({ type, object, old }, { pod: { spec } }) {
      const keepsOff = (node: typeof object) => isKeptOff(spec.tolerations, node.spec.taints ?? NO_TAINTS);
      return !keepsOff(object) && (type === 'add' || (type === 'update' && keepsOff(old)));
    },
    Pod: ({ type, object }, { uid }) => type === 'update' && object.metadata.uid === uid,
  },
};
