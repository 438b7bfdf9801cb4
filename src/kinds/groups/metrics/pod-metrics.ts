import { addQuantities, parseQuantity } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { measured, usage, usageColumns, ZERO } from './usage.ts';

const ContainerMetrics = s.object('ContainerMetrics', 'Usage of one container.', {
  name: s.string('Name of the container.', { zero: true }),
  usage,
});

/** Resource usage of the containers of a pod. It is measured on request and never stored. */
export const PodMetrics = defineKind({
  kind: 'PodMetrics',
  plural: 'pods',
  scope: 'Namespaced',
  description:
    'Current CPU and memory usage of the containers of a pod, as `kubectl top pod` shows it. Measured on request; nothing is stored.',
  versions: { 'metrics.k8s.io/v1beta1': {} },
  verbs: ['get', 'list'],
  fields: {
    ...measured,
    containers: s.list(
      ContainerMetrics,
      'Usage of each running container of the pod, all measured over the same window.',
      { required: true },
    ),
  },
  columns: usageColumns(({ containers = [] }, resource) =>
    containers
      .flatMap((container) => container.usage?.[resource] ?? [])
      .map(parseQuantity)
      .reduce(addQuantities, ZERO),
  ),
});
export type PodMetrics = ObjectOf<typeof PodMetrics>;
