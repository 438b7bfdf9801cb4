/**
 * The stored form of `managedFields`: packed, as a list with one entry that no client can create, which takes a tenth
 * of the space. They are the first field of the metadata, where the splice finds them without parsing the object:
 *
 *     "managedFields":[{"fieldsType":"FieldsV1Packed1","manager":"BASE64 TIME TIME,IDENTIFIER"}]
 *
 * The list is followed by a time for each manager, or `-`, with the identifiers of its set. Short lists are stored in
 * their served form.
 */
import type { Tree } from '../../../../base/json/tree.ts';
import type { ObjectMeta } from '../../../../kinds/shapes/meta/object-meta.ts';
import { parseFieldSet } from '../../../../schema/fields/field-set.ts';
import { type InternedSet, internSet } from './interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry, setOf } from './managed-entry.ts';
import { type ListedManager, listAt, listOf, type ManagerList, packedOf, unpack } from './manager-list.ts';

const PACKED_TYPE = 'FieldsV1Packed1';
const HEAD = `"managedFields":[{"fieldsType":"${PACKED_TYPE}","manager":"`;
const HEAD_BYTES = Buffer.from(HEAD);
const TAIL = '"}]';
/** Minimum JSON length of a list for packing. */
const MIN_PACKED_BYTES = 256;
const NO_TIME = '-';

export function storedMetadata(metadata: ObjectMeta): string {
  const { managedFields } = metadata;
  const packed = managedFields?.length ? packedText(managedFields) : undefined;
  if (packed === undefined) return JSON.stringify(metadata);
  const others = JSON.stringify(withoutManagers(metadata));
  return `{${HEAD}${packed}${TAIL}${others.length > 2 ? ',' : ''}${others.slice(1)}`;
}

/** Copies the other fields. V8 is slow when an object is created from a spread and another field. */
function withoutManagers(metadata: ObjectMeta): Tree {
  const others: Tree = {};
  for (const field in metadata) if (field !== 'managedFields') others[field] = metadata[field as keyof ObjectMeta];
  return others;
}

/** The texts of entries that several objects have in common. */
const sharedTexts = new WeakMap<readonly ManagedFieldsEntry[], { readonly text: string | undefined }>();

/** Returns the packed text; undefined when the list is stored unpacked. */
function packedText(entries: readonly ManagedFieldsEntry[]): string | undefined {
  const known = sharedTexts.get(entries);
  if (known) return known.text;
  const text = newText(entries);
  if (Object.isFrozen(entries)) sharedTexts.set(entries, { text });
  return text;
}

function newText(entries: readonly ManagedFieldsEntry[]): string | undefined {
  const managers: ListedManager[] = [];
  let tail = '';
  for (const entry of entries) {
    const { manager = '', operation = '', apiVersion = '', subresource = '', time = NO_TIME } = entry;
    const set = setOf(entry) ?? parsedSet(entry);
    if (!set || !isPlain(time)) return undefined;
    managers.push({ manager, operation, apiVersion, subresource, template: set.template });
    tail += set.identifiers.length === 0 ? ` ${time}` : ` ${time},${set.identifiers.join(',')}`;
  }
  const list = listOf(managers);
  return list.length < MIN_PACKED_BYTES ? undefined : packedOf(list) + tail;
}

/** Parses the set of an entry from outside; undefined when it is invalid. */
function parsedSet({ fieldsType, fieldsV1 }: ManagedFieldsEntry): InternedSet | undefined {
  const fields = fieldsType === 'FieldsV1' ? parseFieldSet(fieldsV1) : undefined;
  return fields && internSet(fields);
}

/** Reports whether a time has only characters that need no escape in JSON. */
function isPlain(time: string): boolean {
  return /^[-+.:0-9TZ]+$/.test(time);
}

/** Replaces packed managers in an object that was parsed from stored bytes. */
export function unpackManagers(tree: unknown): void {
  const metadata = (tree as { metadata?: ObjectMeta } | null)?.metadata;
  const first = metadata?.managedFields?.[0];
  if (first?.fieldsType !== PACKED_TYPE) return;
  const [packed = '', ...others] = (first.manager ?? '').split(' ');
  metadata!.managedFields = unpack(packed).managers.map((listed, index) => {
    const { manager, operation, apiVersion, subresource, template } = listed;
    const [first, ...identifiers] = (others[index] ?? NO_TIME).split(',');
    const time = first === NO_TIME ? undefined : first;
    return managedEntry({ manager, operation, apiVersion, subresource, time, set: { template, identifiers } });
  });
}

export interface FoundManagers {
  readonly list: ManagerList;
  /** The time and the identifiers of each manager. */
  readonly others: readonly string[];
  /** The offset behind the field: that of a comma or of the brace that closes the metadata. */
  readonly end: number;
}

/** Finds packed managers at the start of the metadata; undefined if there are none. */
export function findManagers(stored: Buffer, at: number): FoundManagers | undefined {
  // Nearly all metadata without packed managers starts with the name.
  if (stored[at + 1] !== HEAD_BYTES[1]) return undefined;
  const start = at + HEAD_BYTES.length;
  if (stored.length < start || stored.compare(HEAD_BYTES, 0, HEAD_BYTES.length, at, start) !== 0) return undefined;
  const { list, end: behind } = listAt(stored, start);
  const end = stored.indexOf(QUOTE, behind);
  const others = stored.toString('latin1', behind + 1, end).split(' ');
  return { list, others, end: end + TAIL.length };
}

const QUOTE = 0x22;

/** Returns the served form of packed managers in parts, after a text. Copies nothing: lists are made of it. */
export function servedManagers({ list, others }: FoundManagers, before = ''): (string | Buffer)[] {
  const { served } = list;
  const parts: (string | Buffer)[] = [];
  let text = `${before}"managedFields":[{`;
  for (let i = 0; i < served.length; i++) {
    const texts = served[i]!;
    const other = others[i] ?? NO_TIME;
    const comma = other.indexOf(',');
    const time = comma < 0 ? other : other.slice(0, comma);
    parts.push(time === NO_TIME ? text : `${text}"time":"${time}",`, texts[0]!);
    if (comma >= 0) {
      const identifiers = other.slice(comma + 1).split(',');
      for (let j = 0; j < identifiers.length; j++) parts.push(identifiers[j]!, texts[j + 1]!);
    }
    text = ',{';
  }
  parts.push(']');
  return parts;
}
