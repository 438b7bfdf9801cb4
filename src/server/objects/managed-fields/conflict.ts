import { ApiError } from '../../../api/errors.ts';
import { shownPath } from '../../../schema/fields/element.ts';
import { type FieldSet, pathsIn } from '../../../schema/fields/field-set.ts';
import { compareText, identifierOf, type Manager } from './managers.ts';

/** Fields that a configuration would change, by the managers that own them. */
export type Conflicts = ReadonlyMap<Manager, FieldSet>;

/** Limit for the fields named in an error; further ones are only counted. */
const MAX_NAMED_FIELDS = 1_000;

/** The 409 that names fields and their managers. */
export function conflictError(conflicts: Conflicts): ApiError {
  const owners: Owner[] = [];
  let count = 0;
  for (const [manager, fields] of [...conflicts].sort(([a], [b]) => compareText(identifierOf(a), identifierOf(b)))) {
    const paths = pathsIn(fields);
    const named = paths.slice(0, Math.max(0, MAX_NAMED_FIELDS - count));
    if (named.length > 0) owners.push({ name: shown(manager), fields: named.map(shownPath) });
    count += paths.length;
  }
  const causes = owners.flatMap(({ name, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })),
  );
  return new ApiError('Conflict', messageOf(owners, count), { details: { causes } });
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
