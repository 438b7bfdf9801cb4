import { age, type Column, integer, name, text } from '../../columns/column.ts';

/** A Scale is no kind of its own, but tables show it as if it were. */
export const scaleColumns: readonly Column[] = [
  text(name.name, name.description, name.cell),
  integer('Desired', 'How many pods there should be.', ({ spec }) => spec?.replicas),
  integer('Available', 'How many pods there are.', ({ status }) => status?.replicas),
  age,
];
