/** What both kinds of measurements say: when they were made, and over how long. */
import { formatQuantity, parseQuantity, type Quantity } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { type Column, name, text } from '../../columns/column.ts';

export const measured = {
  timestamp: s.time({ required: true, description: 'When it was measured.' }),
  window: s.duration({ required: true, description: 'Over how long before that.' }),
};

export const usage = s.map(s.quantity(), {
  required: true,
  description: 'How much of each resource is in use; of the memory, what cannot be given back at once.',
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
