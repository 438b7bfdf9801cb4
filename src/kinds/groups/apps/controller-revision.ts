import { isTree } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, required } from '../../../schema/field-error.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { age, NONE, name, text } from '../../columns/column.ts';
import { deprecation } from '../../deprecation.ts';
import { defineKind, type ObjectOf, splitApiVersion } from '../../kind.ts';

const older = (apiVersion: string) => ({
  deprecated: deprecation(apiVersion, 'ControllerRevision'),
});

/** What a workload looked like at some time, so that it can go back there. */
export const ControllerRevision = defineKind({
  group: 'apps',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  description: 'What a DaemonSet or StatefulSet looked like at some time, so that it can go back there.',
  versions: { 'apps/v1': {}, 'apps/v1beta2': older('apps/v1beta2'), 'apps/v1beta1': older('apps/v1beta1') },
  fields: {
    data: s.any({ immutable: true, description: 'What its owner wrote down; only the owner understands it.' }),
    revision: s.int64({
      min: 0,
      zero: true,
      description: 'Its place among those of its owner: the newest is highest.',
    }),
  },
  rules: [dataIsObject],
  columns: [
    name,
    text('Controller', 'Whose revision it is.', controllerText),
    text('Revision', 'Which revision it is.', ({ revision }) => revision ?? 0),
    age,
  ],
});
export type ControllerRevision = ObjectOf<typeof ControllerRevision>;

/** It cannot change later, so that it is judged once. */
function dataIsObject({ data }: any, { operation }: RuleContext): FieldError[] {
  if (operation === 'update' || isTree(data)) return [];
  return [required('data', data === undefined ? 'data is mandatory' : 'data must be a valid JSON object')];
}

function controllerText({ metadata }: any): string {
  const owners: readonly any[] = metadata?.ownerReferences ?? [];
  const owner = owners.find(({ controller }) => controller);
  if (!owner) return NONE;
  const [group] = splitApiVersion(owner.apiVersion ?? '');
  return `${`${owner.kind}${group ? `.${group}` : ''}`.toLowerCase()}/${owner.name}`;
}
