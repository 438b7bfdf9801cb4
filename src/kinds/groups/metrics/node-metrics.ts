import { parseQuantity } from '../../../base/quantity.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { measured, usage, usageColumns, ZERO } from './usage.ts';

/** Resource usage of a node. It is measured on request and never stored. */
export const NodeMetrics = defineKind({
  kind: 'NodeMetrics',
  plural: 'nodes',
  scope: 'Cluster',
  description:
    'Current CPU and memory usage of a node, as `kubectl top node` shows it. Measured on request; nothing is stored.',
  versions: { 'metrics.k8s.io/v1beta1': {} },
  verbs: ['get', 'list'],
  fields: { ...measured, usage },
  columns: usageColumns((node, resource) => {
    const amount = node.usage?.[resource];
    return amount === undefined ? ZERO : parseQuantity(amount);
  }),
});
export type NodeMetrics = ObjectOf<typeof NodeMetrics>;
