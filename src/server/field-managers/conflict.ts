import { ApiError } from '../../base/errors.ts';
import { type FieldSet, pathsIn } from '../../schema/fields/field-set.ts';
import { compareText, identifierOf, type Manager } from './managers.ts';

/** Fields that a configuration would change, by the managers that own them. */
export type Conflicts = ReadonlyMap<Manager, FieldSet>;

/** The 409 that names every field and its manager. */
export function conflictError(conflicts: Conflicts): ApiError {
  const sortedConflicts = [...conflicts].sort(([a], [b]) => compareText(identifierOf(a), identifierOf(b)));
  const found = sortedConflicts.flatMap(([manager, fields]) => pathsIn(fields).map((field) => ({ manager, field })));
  const causes = found.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${shown(manager)}`,
    field,
  }));
  return new ApiError('Conflict', messageOf(found), { details: { causes } });
}

interface FoundConflict {
  readonly manager: Manager;
  readonly field: string;
}

function messageOf(found: readonly FoundConflict[]): string {
  const [first] = found;
  if (found.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${shown(first!.manager)}: ${first!.field}`;
  }
  const lines = [...new Set(found.map(({ manager }) => manager))].flatMap((manager) => [
    `conflicts with ${shown(manager)}:`,
    ...found.filter((each) => each.manager === manager).map(({ field }) => `- ${field}`),
  ]);
  return `Apply failed with ${found.length} conflicts: ${lines.join('\n')}`;
}

function shown({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : '');
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
