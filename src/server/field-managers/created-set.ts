import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import { compareFields } from '../../schema/fields/compare.ts';
import { isEmptySet, union } from '../../schema/fields/field-set.ts';
import { Signatures } from '../../schema/fields/signature.ts';
import { zeroObject } from '../../schema/fields/zero.ts';
import { type InternedSet, internSet } from '../managed-fields/interned-sets.ts';
import { ownableFields } from './reset-fields.ts';
import { withoutMetadata } from './update.ts';

const MAX_SIGNATURES_BYTES = 8 * 1024 * 1024;

interface Created {
  readonly set: InternedSet | undefined;
}

const signatures = new Signatures<Created>(MAX_SIGNATURES_BYTES);

/**
 * The fields that the creator of an object owns: everything that it has but for what nobody owns. Undefined when that is
 * nothing. It is looked up by the signature of the object, because most objects have the fields of one that was created before.
 */
export function createdSet(kind: Kind, version: Version, object: unknown): InternedSet | undefined {
  const signature = signatures.of(version, object);
  signature.value ??= { set: computed(kind, version, object as KubeObject) };
  return signature.value.set;
}

function computed(kind: Kind, version: Version, object: KubeObject): InternedSet | undefined {
  const { added, modified } = compareFields(version.schema, zeroObject(version.schema), object);
  const fields = withoutMetadata(ownableFields(kind, version, '')(union(modified, added)));
  return isEmptySet(fields) ? undefined : internSet(fields);
}
