import { Node } from '../../../../kinds/groups/core/node/node.ts';
import type { AdmissionPlugin } from '../plugin.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Taints new nodes as not ready, so that they get no pods before they report to be ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  keepsDefaults: true,

  handles: (kind, operation, subresource) => kind === Node && operation === 'CREATE' && !subresource,

  admit(_, { object }) {
    const { spec } = object as Node;
    const { taints = [] } = spec;
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
    spec.taints = [...taints, { ...NOT_READY }];
  },

  forget(object) {
    const { spec } = object as Node;
    const taints = spec.taints?.filter(({ key, effect }) => key !== NOT_READY.key || effect !== NOT_READY.effect);
    if (taints?.length) spec.taints = taints;
    else delete spec.taints;
  },
};
