/**
 * Sets of fields after a write. Objects of one template go through the same changes, such as the status of a new pod, so
 * that the outcome is remembered for sets that are interned. One that mentions an identifier, such as the address of the
 * pod, will not come again, and remembering it takes longer than making it.
 */
import { BoundedMap, textBytes } from '../../base/collections/bounded-map.ts';
import { difference, type FieldSet, isEmptySet, union } from '../../schema/fields/field-set.ts';
import { fieldsOf, hasIdentifiers, internSet, jsonOf, knownSet } from '../managed-fields/interned-sets.ts';

const MAX_CHANGES_BYTES = 8 * 1024 * 1024;
/** A tree takes about eight times as much as its JSON. */
const TREE_FACTOR = 8;

const known = new BoundedMap<FieldSet>({
  maxBytes: MAX_CHANGES_BYTES,
  bytesOf: (fields) => textBytes(jsonOf(internSet(fields))) * TREE_FACTOR,
});

/** The set without members of another one, which it has. */
export function setWithout(fields: FieldSet, gone: FieldSet): FieldSet {
  if (isEmptySet(gone)) return fields;
  return remembered('-', fields, gone, () => difference(fields, gone));
}

/** The set with the members of another one: the very same where it has all of them. */
export function setWith(fields: FieldSet, added: FieldSet): FieldSet {
  if (isEmptySet(difference(added, fields))) return fields;
  return remembered('+', fields, added, () => union(added, fields));
}

function remembered(change: '+' | '-', fields: FieldSet, by: FieldSet, compute: () => FieldSet): FieldSet {
  const set = knownSet(fields);
  if (!set || set.identifiers.length > 0) return compute();
  const changed = JSON.stringify(by);
  if (hasIdentifiers(changed)) return compute();
  const key = `${change}${set.template.id} ${changed}`;
  let found = known.get(key);
  if (!found) {
    found = fieldsOf(internSet(compute()));
    known.set(key, found);
  }
  return found;
}
