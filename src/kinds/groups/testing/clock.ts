import { s } from '../../../schema/builders.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

/** The name of the one Clock that a cluster has. */
export const CLUSTER_CLOCK = 'cluster';

/** The time of a cluster whose clock is moved by its users. */
export const Clock = defineKind({
  kind: 'Clock',
  scope: 'Cluster',
  description:
    'The time of a cluster that was started with a manual clock. There is one, named `cluster`. The time moves when spec.time is set to a later one; everything that is due until then happens on the way.',
  versions: { 'testing.kubernetes.io/v1': {} },
  fields: {
    spec: s.struct('ClockSpec', 'Desired time of the cluster.', {
      time: s.microTime('The time that the cluster moves to. An earlier time has no effect.'),
    }),
    status: s.struct('ClockStatus', 'Observed time of the cluster.', {
      time: s.microTime('The time that the cluster has reached.'),
    }),
  },
  subresources: { status: true },
  columns: ({ text }) => [
    name,
    text('Time', 'The time that the cluster has reached.', ({ status }) => status?.time ?? ''),
    age,
  ],
});
export type Clock = ObjectOf<typeof Clock>;
