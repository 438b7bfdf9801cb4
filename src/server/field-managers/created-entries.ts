import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import { compareFields } from '../../schema/fields/compare.ts';
import { isEmptySet, union } from '../../schema/fields/field-set.ts';
import { Signatures } from '../../schema/fields/signature.ts';
import { zeroObject } from '../../schema/fields/zero.ts';
import { type InternedSet, internSet } from '../managed-fields/interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry, sharedEntries } from '../managed-fields/managed-entry.ts';
import { ownableFields } from './reset-fields.ts';
import { withoutMetadata } from './update.ts';

const MAX_SIGNATURES_BYTES = 8 * 1024 * 1024;

interface Created {
  readonly set: InternedSet | undefined;
  /** What the object before got. */
  last: CreatedEntries | undefined;
}

interface CreatedEntries extends Creator {
  readonly entries: readonly ManagedFieldsEntry[];
}

interface Creator {
  readonly manager: string;
  /** Has seconds, so that it is the same for many objects. */
  readonly time: string;
}

const signatures = new Signatures<Created>(MAX_SIGNATURES_BYTES);

/**
 * The `managedFields` of a new object: its creator owns everything that it has but for what nobody owns. Undefined when that is
 * nothing. It is looked up by the signature of the object, because most objects have the fields of one that was created before.
 */
export function createdEntries(kind: Kind, version: Version, object: unknown, creator: Creator) {
  const signature = signatures.of(version, object);
  signature.value ??= { set: computed(kind, version, object as KubeObject), last: undefined };
  const { set, last } = signature.value;
  if (!set) return undefined;
  const { manager, time } = creator;
  if (last?.manager === manager && last.time === time) return last.entries;
  const { apiVersion } = version;
  const entry = managedEntry({ manager, operation: 'Update', apiVersion, subresource: '', time, set });
  const entries = sharedEntries([entry]);
  signature.value.last = { manager, time, entries };
  return entries;
}

function computed(kind: Kind, version: Version, object: KubeObject): InternedSet | undefined {
  const { added, modified } = compareFields(version.schema, zeroObject(version.schema), object);
  const fields = withoutMetadata(ownableFields(kind, version, '')(union(modified, added)));
  return isEmptySet(fields) ? undefined : internSet(fields);
}
