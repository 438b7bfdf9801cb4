/** Fields that an API path cannot write, so that nobody owns them through that path. */
import { memoized } from '../../../base/collections/memoized.ts';
import type { Kind, Version } from '../../../kinds/kind.ts';
import { fieldElement } from '../../../schema/fields/element.ts';
import { type FieldSet, LEAF, NO_FIELDS, recursiveDifference, union } from '../../../schema/fields/field-set.ts';

/** Filters out fields that cannot be owned through a path. */
export type OwnableFields = (fields: FieldSet) => FieldSet;

/** Returns the filter for the path of a subresource, or of the object itself (the empty string). */
export function ownableFields(kind: Kind, version: Version, subresource: string): OwnableFields {
  const key = `${version.apiVersion} ${subresource}`;
  const byPath = filters(kind);
  let filter = byPath.get(key);
  if (!filter) {
    filter = filterOf(kind, version, subresource);
    byPath.set(key, filter);
  }
  return filter;
}

const filters = memoized((_kind: Kind) => new Map<string, OwnableFields>());

function filterOf(kind: Kind, version: Version, subresource: string): OwnableFields {
  const only = ONLY[subresource];
  if (only) return only;
  const reset = [...resetParts(kind, version, subresource), ...(kind.resetFields?.[subresource || 'object'] ?? [])];
  if (reset.length === 0) return (fields) => fields;
  const set = reset.map(setOf).reduce(union, NO_FIELDS);
  return (fields) => recursiveDifference(fields, set);
}

function resetParts({ subresources }: Kind, { schema }: Version, subresource: string): readonly string[] {
  switch (subresource) {
    case '':
    case 'scale':
    case 'finalize':
      return subresources?.status ? ['status'] : [];
    case 'status':
    case 'approval':
      return Object.keys(schema.fields).filter((field) => !KEPT_WITH_STATUS.has(field));
    default:
      return [];
  }
}

const KEPT_WITH_STATUS: ReadonlySet<string> = new Set(['status', 'metadata', 'kind', 'apiVersion']);

/** Converts a path such as `metadata.labels` to a set. */
function setOf(path: string): FieldSet {
  return path
    .split('.')
    .reverse()
    .reduce<FieldSet>((below, name) => ({ [fieldElement(name)]: below }), LEAF);
}

/** Subresources that write only one part of the spec. */
const ONLY: Readonly<Record<string, OwnableFields>> = {
  ephemeralcontainers: (fields) => withOnly(fields, ['f:spec', 'f:ephemeralContainers']),
  resize: (fields) =>
    ['f:containers', 'f:initContainers']
      .flatMap((list) =>
        ['f:resources', 'f:resizePolicy'].map((field) => withOnly(fields, ['f:spec', list, '*', field])),
      )
      .reduce(union, NO_FIELDS),
};

/** Selects the members at and below a path, in which `*` is any element. */
function withOnly(fields: FieldSet, [element, ...rest]: readonly string[]): FieldSet {
  if (element === undefined) return fields;
  const out: Record<string, FieldSet> = {};
  for (const key in fields) {
    if (key === '.' || (element !== '*' && key !== element)) continue;
    const below = rest.length > 0 ? withOnly(fields[key]!, rest) : fields[key]!;
    if (rest.length === 0 || Object.keys(below).length > 0) out[key] = below;
  }
  return out;
}
