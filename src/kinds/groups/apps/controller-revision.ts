import { isTree } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, required } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type KubeObject, type ObjectOf, splitApiVersion } from '../../kind.ts';

/** A snapshot of a workload's state that its controller can roll back to. */
export const ControllerRevision = defineKind({
  kind: 'ControllerRevision',
  scope: 'Namespaced',
  description:
    'An immutable snapshot of the state of a DaemonSet or StatefulSet, kept so that its controller can roll back to it. Revisions are written and cleaned up by the controllers; clients normally only read them.',
  versions: { 'apps/v1': {}, 'apps/v1beta2': {}, 'apps/v1beta1': {} },
  fields: {
    data: s.any(
      'The serialized state, as an object whose layout only the owning controller interprets. Required; cannot be changed after creation.',
      { immutable: true },
    ),
    revision: s.int64(
      'Position of this snapshot in the history of its owner: the highest number is the newest. Must not be negative.',
      { min: 0, zero: true },
    ),
  },
  rawFields: ['data'],
  rules: [dataIsObject],
  columns: ({ text }) => [
    name,
    text('Controller', 'The object whose state the revision holds.', controllerText),
    text('Revision', 'Position of the revision in the history of its owner.', ({ revision }) => revision ?? 0),
    age,
  ],
});
export type ControllerRevision = ObjectOf<typeof ControllerRevision>;

/** Checked on create only, because the data is immutable. */
function dataIsObject({ data }: { readonly data?: unknown }, { operation }: RuleContext): FieldError[] {
  if (operation === 'update' || isTree(data)) return [];
  return [required('data', data === undefined ? 'data is mandatory' : 'data must be a valid JSON object')];
}

function controllerText({ metadata }: Sparse<KubeObject>): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return NONE;
  const [group] = splitApiVersion(owner.apiVersion ?? '');
  return `${`${owner.kind}${group ? `.${group}` : ''}`.toLowerCase()}/${owner.name}`;
}
