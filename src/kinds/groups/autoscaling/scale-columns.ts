import { age, type Column, integer, name, text } from '../../columns/column.ts';

/** Table columns of a Scale, which is served only as a subresource. */
export const scaleColumns: readonly Column[] = [
  text(name.name, name.description, name.cell),
  integer('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas),
  integer('Available', 'Current number of pods.', ({ status }) => status?.replicas),
  age,
];
