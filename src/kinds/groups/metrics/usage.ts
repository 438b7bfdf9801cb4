/** What both kinds of measurements say: when they were made, and over how long. */
import { formatQuantity, parseQuantity, type Quantity } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { type Column, name, text } from '../../columns/column.ts';

export const measured = {
  timestamp: s.time({ required: true, description: 'End of the period the usage was measured over.' }),
  window: s.duration({ required: true, description: 'Length of the period the usage was measured over.' }),
};

export const usage = s.map(s.quantity(), {
  required: true,
  description:
    'Usage by resource: `cpu` in cores, averaged over the window, and `memory` in bytes, as the working set at its end.',
});

/** What tables show of either. `sum` adds up what there is of a resource. */
export function usageColumns(sum: (object: any, resource: string) => Quantity): readonly Column[] {
  const amount = (resource: string, words: string): Column => ({
    ...text(resource, words, (object) => formatQuantity(sum(object, resource))),
    format: 'quantity',
  });
  return [
    name,
    amount('cpu', 'How much of the processors is in use.'),
    amount('memory', 'How much of the memory is in use.'),
    { ...text('Window', 'Over how long it was measured.', ({ window }) => window ?? ''), format: 'duration' },
  ];
}

export const NOTHING = parseQuantity('0');
