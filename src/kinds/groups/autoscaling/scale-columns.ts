import { age, type Column, columnsOf, name } from '../../columns/column.ts';
import type { Scale } from './scale.ts';

/** Table columns of a Scale, which is served only as a subresource. */
export const scaleColumns: readonly Column<Scale>[] = columnsOf(({ text, integer }) => [
  text(name.name, name.description, name.cell),
  integer('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas),
  integer('Available', 'Current number of pods.', ({ status }) => status?.replicas),
  age,
]);
