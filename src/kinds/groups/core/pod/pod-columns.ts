import { indexBy } from '../../../../base/collections/index-by.ts';
import { age, type ColumnList, NONE, name, type Sparse, wide } from '../../../columns/column.ts';
import { elapsed } from '../../../columns/elapsed.ts';
import type { Completion } from '../../../kind.ts';
import type { Pod } from './pod-fields.ts';
import { podState } from './status/pod-state.ts';

export const podColumns: ColumnList<Pod> = ({ text }) => [
  name,
  text('Ready', 'Number of ready containers, and number of containers.', (pod) => {
    const { ready, containers } = podState(pod);
    return `${ready}/${containers}`;
  }),
  text('Status', 'State of the pod and its containers, in one word.', (pod) => podState(pod).reason),
  {
    ...text('Restarts', 'Number of container restarts, and time since the last one.', (pod, now) => {
      const { restarts, lastRestart } = podState(pod);
      return restarts > 0 && lastRestart ? `${restarts} (${elapsed(lastRestart, now)} ago)` : String(restarts);
    }),
    changes: (pod) => podState(pod).restarts > 0,
  },
  age,
  ...[
    text('IP', 'IP address of the pod.', ({ status }) => status?.podIPs?.[0]?.ip || NONE),
    text('Node', 'Node that the pod runs on.', ({ spec }) => spec?.nodeName || NONE),
    text(
      'Nominated Node',
      'Node on which other pods are preempted for this one.',
      ({ status }) => status?.nominatedNodeName || NONE,
    ),
    text('Readiness Gates', 'Number of readiness gates that are met, and number of gates.', gates),
  ].map(wide),
];

function gates({ spec, status }: Sparse<Pod>): string {
  const wanted = spec?.readinessGates ?? [];
  if (wanted.length === 0) return NONE;
  const conditions = indexBy(status?.conditions, ({ type }) => type);
  const holding = wanted.filter(({ conditionType }) => conditions.get(conditionType)?.status === 'True');
  return `${holding.length}/${wanted.length}`;
}

/** Returns how a pod has completed; undefined while it has not. */
export function podCompletion({ status }: Sparse<Pod>): Completion | undefined {
  switch (status?.phase) {
    case 'Succeeded':
      return { reason: 'Succeeded', message: 'The pod has completed successfully.' };
    case 'Failed':
      return { reason: 'Failed', message: 'The pod failed.' };
    default:
      return undefined;
  }
}
