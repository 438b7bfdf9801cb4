/** Fields and table columns that NodeMetrics and PodMetrics share. */
import { formatQuantity, parseQuantity, type Quantity } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { type Column, name, type Sparse, text } from '../../columns/column.ts';
import type { KubeObject } from '../../kind.ts';

export const measured = {
  timestamp: s.time('End of the period the usage was measured over.', { required: true }),
  window: s.duration('Length of the period the usage was measured over.', { required: true }),
};

export const usage = s.map(
  s.quantity(),
  'Usage by resource: `cpu` in cores, averaged over the window, and `memory` in bytes, as the working set at its end.',
  { required: true },
);

interface Measured extends KubeObject {
  window: string;
  usage?: Record<string, string>;
  containers?: { usage: Record<string, string> }[];
}

/** Table columns. `sum` returns the total usage of a resource. */
export function usageColumns(
  sum: (object: Sparse<Measured>, resource: string) => Quantity,
): readonly Column<Measured>[] {
  const amount = (resource: string, words: string): Column<Measured> => ({
    ...text<Measured>(resource, words, (object) => formatQuantity(sum(object, resource))),
    format: 'quantity',
  });
  return [
    name,
    amount('cpu', 'CPU usage in cores.'),
    amount('memory', 'Memory usage in bytes.'),
    {
      ...text<Measured>('Window', 'Length of the period of measurement.', ({ window }) => window ?? ''),
      format: 'duration',
    },
  ];
}

export const ZERO = parseQuantity('0');
