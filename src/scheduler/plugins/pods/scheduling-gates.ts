/** A pod with scheduling gates is not scheduled; the queue holds it until the last gate is removed. */
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';

export const schedulingGates: Plugin = {
  name: 'SchedulingGates',
  preFilter({ pod }) {
    const gates = pod.spec.schedulingGates ?? [];
    if (gates.length === 0) return SKIP;
    const names = gates.map(({ name }) => name).join(' ');
    return { type: 'reject', rejection: rejection(`waiting for scheduling gates: [${names}]`) };
  },
  hints: {
    Pod: ({ type, object }, { uid }) =>
      type === 'update' && object.metadata.uid === uid && !object.spec.schedulingGates?.length,
  },
};
