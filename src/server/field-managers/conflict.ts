import { ApiError } from '../../base/errors.ts';
import { type FieldSet, pathsIn } from '../../schema/fields/field-set.ts';
import { compareText, identifierOf, type Manager } from './managers.ts';

/** Fields that a configuration would change, by the managers that own them. */
export type Conflicts = ReadonlyMap<Manager, FieldSet>;

/** The 409 that names every field and its manager. */
export function conflictError(conflicts: Conflicts): ApiError {
  const owners = [...conflicts]
    .sort(([a], [b]) => compareText(identifierOf(a), identifierOf(b)))
    .map(([manager, fields]): Owner => ({ name: shown(manager), fields: pathsIn(fields) }));
  const causes = owners.flatMap(({ name, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })),
  );
  return new ApiError('Conflict', messageOf(owners, causes.length), { details: { causes } });
}

interface Owner {
  readonly name: string;
  readonly fields: readonly string[];
}

function messageOf(owners: readonly Owner[], count: number): string {
  if (count === 1) {
    return `Apply failed with 1 conflict: conflict with ${owners[0]!.name}: ${owners[0]!.fields[0]}`;
  }
  const lines = owners.flatMap(({ name, fields }) => [
    `conflicts with ${name}:`,
    ...fields.map((field) => `- ${field}`),
  ]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

function shown({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '');
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
