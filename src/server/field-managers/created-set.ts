import { BoundedMap } from '../../base/collections/bounded-map.ts';
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import { compareFields } from '../../schema/fields/compare.ts';
import { isEmptySet, union } from '../../schema/fields/field-set.ts';
import { signatureOf } from '../../schema/fields/signature.ts';
import { zeroObject } from '../../schema/fields/zero.ts';
import { type InternedSet, internSet } from '../managed-fields/interned-sets.ts';
import { ownableFields } from './reset-fields.ts';
import { withoutMetadata } from './update.ts';

const MAX_SIGNATURES_BYTES = 8 * 1024 * 1024;
/** Of a set, beside what all objects share of it. */
const SET_BYTES = 100;

const known = new BoundedMap<{ readonly set: InternedSet | undefined }>({
  maxBytes: MAX_SIGNATURES_BYTES,
  bytesOf: () => SET_BYTES,
});
const versionIds = new WeakMap<Version, number>();
let lastVersionId = 0;

/**
 * The fields that the creator of an object owns: everything that it has but for what nobody owns. Undefined when that is
 * nothing. It is looked up by the signature of the object, because most objects have the fields of one that was created before.
 */
export function createdSet(kind: Kind, version: Version, object: unknown): InternedSet | undefined {
  const key = `${idOf(version)} ${signatureOf(version.schema, object)}`;
  let found = known.get(key);
  if (!found) {
    found = { set: computed(kind, version, object as KubeObject) };
    known.set(key, found);
  }
  return found.set;
}

function computed(kind: Kind, version: Version, object: KubeObject): InternedSet | undefined {
  const { added, modified } = compareFields(version.schema, zeroObject(version.schema), object);
  const fields = withoutMetadata(ownableFields(kind, version, '')(union(modified, added)));
  return isEmptySet(fields) ? undefined : internSet(fields);
}

function idOf(version: Version): number {
  let id = versionIds.get(version);
  if (id === undefined) {
    id = ++lastVersionId;
    versionIds.set(version, id);
  }
  return id;
}
