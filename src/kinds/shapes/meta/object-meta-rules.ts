/** Rules for the metadata of every object, with the messages of Kubernetes. */
import { deepEqual } from '../../../base/json/tree.ts';
import { type FieldError, forbidden, invalid, required, tooLong, under } from '../../../schema/field-error.ts';
import { dnsLabel, pathSegment, qualifiedName } from '../../../schema/names.ts';
import { labels } from './label-selector.ts';
import type { ObjectMeta } from './object-meta.ts';

export interface ObjectMetaContext {
  readonly operation: 'create' | 'update';
  readonly old: ObjectMeta | undefined;
  /** The kind's check of names; `prefix` for a generateName. */
  readonly nameRule: (name: string, prefix: boolean) => readonly string[];
  readonly namespaced: boolean;
  /** True when finalizers need no domain. */
  readonly bareFinalizers?: boolean | undefined;
}

/**
 * Returns errors with paths relative to the metadata. The name must already be generated. Values that are identical to
 * those of the old object were checked when that was stored: most writes change no more than one field here.
 */
export function validateObjectMeta(meta: ObjectMeta, context: ObjectMetaContext): readonly FieldError[] {
  const { old, namespaced, bareFinalizers } = context;
  const isNew = (field: keyof ObjectMeta) => !old || meta[field] !== old[field];
  let errors: readonly FieldError[] = NONE;
  const add = (more: readonly FieldError[]) => {
    if (more.length > 0) errors = [...errors, ...more];
  };
  if (isNew('name') || isNew('generateName')) add(names(meta, context));
  if (isNew('namespace')) add(namespace(meta, namespaced));
  if (isNew('generation')) add(generation(meta));
  if (isNew('labels')) add(under('labels', labels(meta.labels ?? {})));
  if (isNew('annotations')) add(under('annotations', annotations(meta.annotations ?? {})));
  if (isNew('ownerReferences')) add(ownerReferences(meta.ownerReferences));
  if (isNew('finalizers')) add(finalizers(meta.finalizers, bareFinalizers));
  if (isNew('managedFields')) add(managedFields(meta.managedFields));
  if (old) add(changes(meta, old));
  return errors;
}

const NONE: readonly never[] = Object.freeze([]);

/** Checks a map of annotations. Keys are like those of labels, but the prefix may also have capital letters. */
export function annotations(map: Readonly<Record<string, string>>): FieldError[] {
  const found: FieldError[] = [];
  let size = 0;
  for (const key in map) {
    size += Buffer.byteLength(key) + Buffer.byteLength(map[key]!);
    for (const complaint of qualifiedName(key.toLowerCase())) found.push(invalid('', key, complaint));
  }
  if (size > ANNOTATIONS_LIMIT) found.push(tooLong('', ANNOTATIONS_LIMIT));
  return found;
}

const ANNOTATIONS_LIMIT = 256 * 1024;

/** Limit for names without a stricter rule, such as those of roles: the embedded store limits keys to 1,978 bytes. */
const MAX_NAME_BYTES = 1024;

function names({ name = '', generateName = '' }: ObjectMeta, { operation, nameRule }: ObjectMetaContext): FieldError[] {
  const found: FieldError[] = [];
  const rule = operation === 'create' ? nameRule : (text: string) => pathSegment(text);
  if (generateName) {
    for (const complaint of rule(generateName, true)) found.push(invalid('generateName', generateName, complaint));
  }
  if (!name) found.push(required('name', 'name or generateName is required'));
  else for (const complaint of rule(name, false)) found.push(invalid('name', name, complaint));
  if (operation === 'create' && found.length === 0 && Buffer.byteLength(name) > MAX_NAME_BYTES) {
    found.push(invalid('name', name, `must be no more than ${MAX_NAME_BYTES} bytes`));
  }
  return found;
}

function namespace({ namespace = '' }: ObjectMeta, namespaced: boolean): FieldError[] {
  if (!namespaced) return namespace ? [forbidden('namespace', 'not allowed on this type')] : [];
  if (!namespace) return [required('namespace')];
  return dnsLabel(namespace).map((complaint) => invalid('namespace', namespace, complaint));
}

function generation({ generation = 0 }: ObjectMeta): FieldError[] {
  return generation < 0 ? [invalid('generation', generation, 'must be greater than or equal to 0')] : [];
}

/** Errors are reported at the list, not at the item, as in Kubernetes. */
function ownerReferences(owners: ObjectMeta['ownerReferences'] = []): FieldError[] {
  const found: FieldError[] = [];
  let controller = '';
  for (const owner of owners) {
    const { apiVersion, kind, name, uid } = owner;
    if (!versionOf(apiVersion)) found.push(invalid('apiVersion', apiVersion, 'version must not be empty'));
    if (!kind) found.push(invalid('kind', kind, 'must not be empty'));
    if (!name) found.push(invalid('name', name, 'must not be empty'));
    if (!uid) found.push(invalid('uid', uid, 'must not be empty'));
    if (apiVersion === 'v1' && kind === 'Event') {
      found.push(invalid('', owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (!owner.controller) continue;
    const seen = `${kind}/${name}`;
    if (controller) {
      const words = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${seen}`;
      found.push(invalid('', owners, words));
    } else {
      controller = seen;
    }
  }
  return under('ownerReferences', found);
}

function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/');
  return parts.length > 2 ? '' : parts[parts.length - 1]!;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';
const STANDARD = new Set(['kubernetes', ORPHAN, FOREGROUND]);

function finalizers(list: ObjectMeta['finalizers'] = [], areBareAllowed = false): FieldError[] {
  const found = list.flatMap((finalizer) =>
    qualifiedName(finalizer).map((complaint) => invalid('finalizers', finalizer, complaint)),
  );
  if (list.includes(ORPHAN) && list.includes(FOREGROUND)) {
    found.push(invalid('finalizers', list, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`));
  }
  if (areBareAllowed) return found;
  list.forEach((finalizer, index) => {
    if (finalizer.includes('/') || STANDARD.has(finalizer)) return;
    const words = 'name is neither a standard finalizer name nor is it fully qualified';
    found.push(invalid(`finalizers[${index}]`, finalizer, words));
  });
  return found;
}

function managedFields(entries: ObjectMeta['managedFields'] = []): FieldError[] {
  const found: FieldError[] = [];
  entries.forEach((entry, index) => {
    const errors = managedFieldsEntry(entry);
    if (errors.length === 0) return;
    for (const error of under(`managedFields[${index}]`, errors)) found.push(error);
  });
  return found;
}

function managedFieldsEntry(entry: NonNullable<ObjectMeta['managedFields']>[number]): FieldError[] {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
  const found: FieldError[] = [];
  if (operation !== 'Apply' && operation !== 'Update') {
    found.push(invalid('operation', operation, 'must be `Apply` or `Update`'));
  }
  if (fieldsType && fieldsType !== 'FieldsV1') found.push(invalid('fieldsType', fieldsType, 'must be `FieldsV1`'));
  if (isLonger(manager, 128)) found.push(tooLong('manager', 128));
  if (isLonger(subresource, 256)) found.push(tooLong('subresource', 256));
  return found;
}

/** Reports whether a text has more bytes. A character has three at most, or two of them four. */
const isLonger = (text: string, bytes: number) => text.length * 3 > bytes && Buffer.byteLength(text) > bytes;

/** Checks on update that identity and deletion of an object do not change. */
function changes(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const found: FieldError[] = [];
  if (old.deletionTimestamp) {
    const known = new Set(old.finalizers);
    const added = (meta.finalizers ?? []).filter((each) => !known.has(each)).sort();
    if (added.length) {
      const shown = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
      const words = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
      found.push(forbidden('finalizers', words));
    }
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    found.push(invalid('generation', meta.generation ?? 0, 'must not be decremented'));
  }
  for (const [field, absent] of FIXED) {
    if (!deepEqual(meta[field], old[field])) found.push(invalid(field, meta[field] ?? absent, 'field is immutable'));
  }
  return found;
}

/** Immutable fields, and the value that errors show for an absent one. */
const FIXED = [
  ['name', ''],
  ['namespace', ''],
  ['uid', ''],
  ['creationTimestamp', null],
  ['deletionTimestamp', null],
  ['deletionGracePeriodSeconds', null],
] as const;
