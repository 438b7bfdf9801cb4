import type { Kind, KubeObject, Version } from '../../../kinds/kind.ts';
import { compareFields } from '../../../schema/fields/compare.ts';
import { isEmptySet, union } from '../../../schema/fields/field-set.ts';
import { Signatures } from '../../../schema/fields/signature.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';
import { isTracked } from './limits.ts';
import { ownableFields } from './reset-fields.ts';
import { type InternedSet, internSet } from './stored/interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry, sharedEntries } from './stored/managed-entry.ts';
import { withoutMetadata } from './update.ts';

const MAX_SIGNATURES_BYTES = 8 * 1024 * 1024;

/** The data shared by all objects with the same fields. */
interface Created {
  /** The set, with the identifier of its first object, which is replaced for other objects. */
  readonly set: InternedSet | undefined;
  /** The entries of the previous object. */
  last: CreatedEntries | undefined;
}

interface CreatedEntries extends Creator {
  readonly identifier: string | undefined;
  readonly entries: readonly ManagedFieldsEntry[];
}

interface Creator {
  readonly manager: string;
  /** Time in seconds, so that many objects share it. */
  readonly time: string;
}

const signatures = new Signatures<Created>(MAX_SIGNATURES_BYTES);

/**
 * Returns the `managedFields` of a new object: its creator owns all fields except those that cannot be owned. Undefined
 * when there are none, or too many. The result is cached by the signature of the object, because most objects have the
 * fields of one that was created before.
 */
export function createdEntries(kind: Kind, version: Version, object: unknown, creator: Creator) {
  const found = signatures.of(version, object);
  const known = found?.signature.value ?? { set: computed(kind, version, object as KubeObject), last: undefined };
  if (found) found.signature.value = known;
  const { set, last } = known;
  if (!set) return undefined;
  const { manager, time } = creator;
  const identifier = set.identifiers.length > 0 ? found?.identifier : undefined;
  if (last?.manager === manager && last.time === time && last.identifier === identifier) return last.entries;
  const { apiVersion } = version;
  const own = identifier === undefined ? set : { template: set.template, identifiers: [identifier] };
  const entry = managedEntry({ manager, operation: 'Update', apiVersion, subresource: '', time, set: own });
  const entries = sharedEntries([entry]);
  known.last = { manager, time, identifier, entries };
  return entries;
}

function computed(kind: Kind, version: Version, object: KubeObject): InternedSet | undefined {
  if (!isTracked(version, object)) return undefined;
  const { added, modified } = compareFields(version.schema, zeroObject(version.schema), object);
  const fields = withoutMetadata(ownableFields(kind, version, '')(union(modified, added)));
  return isEmptySet(fields) ? undefined : internSet(fields);
}
