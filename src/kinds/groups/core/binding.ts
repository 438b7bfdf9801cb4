import { s } from '../../../schema/builders.ts';
import { type FieldError, notSupported, required } from '../../../schema/field-error.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { ObjectReference } from '../../shapes/meta/references.ts';

/** Assigns a pod to a node. It can only be created and is never stored. */
export const Binding = defineKind({
  kind: 'Binding',
  scope: 'Namespaced',
  description: 'Assigns the pod of the same name to a node. Created by schedulers; it is not stored.',
  versions: { v1: {} },
  verbs: ['create'],
  fields: {
    target: s.use(ObjectReference, 'Node that the pod is assigned to. Its name is required.', {
      default: {},
      rules: [isNode],
    }),
  },
});

export type Binding = ObjectOf<typeof Binding>;

function isNode({ kind, name }: ObjectReference): FieldError[] {
  const found = kind && kind !== 'Node' ? [notSupported('kind', kind, ['Node', '<empty>'])] : [];
  if (!name) found.push(required('name'));
  return found;
}
