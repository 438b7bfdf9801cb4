import { s } from '../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { DeleteOptions } from '../../shapes/meta/delete-options.ts';

/** The body of a pod's `eviction` subresource: a delete that respects PodDisruptionBudgets. It is never stored. */
export const Eviction = defineKind({
  kind: 'Eviction',
  scope: 'Namespaced',
  description:
    "Request body of a pod's `eviction` subresource: deletes the pod gracefully, unless that would violate a PodDisruptionBudget. Nothing is stored.",
  versions: { 'policy/v1': {}, 'policy/v1beta1': {} },
  verbs: [],
  fields: {
    deleteOptions: s.use(DeleteOptions, 'Options of the delete, such as gracePeriodSeconds and preconditions.'),
  },
});
export type Eviction = ObjectOf<typeof Eviction>;
