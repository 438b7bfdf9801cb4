import { compareText } from '../../../schema/fields/element.ts';
/** Server-side apply: computes the resulting object of a configuration, and the owners of its fields. */

import { ApiError } from '../../../api/errors.ts';
import { rawJson, withSortedKeys } from '../../../base/json/raw-json.ts';
import { deepEqual, isTree, type Tree } from '../../../base/json/tree.ts';
import type { Kind, Version } from '../../../kinds/kind.ts';
import { checkFields } from '../../../schema/fields/check.ts';
import { compareFields } from '../../../schema/fields/compare.ts';
import { shownPath } from '../../../schema/fields/element.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  NO_FIELDS,
  pathsIn,
  union,
} from '../../../schema/fields/field-set.ts';
import { fieldsOf } from '../../../schema/fields/fields-of.ts';
import { mergeFields } from '../../../schema/fields/merge.ts';
import { removeFields, withNamedFields } from '../../../schema/fields/remove.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';
import { checkApplicable, checkManaged, identifierOf, type Manager, type Managers } from './managers.ts';
import type { OwnableFields } from './reset-fields.ts';
import { afterUpdate, othersAfter, withoutMetadata } from './update.ts';
import { VersionedTree, versionNamed } from './versioned.ts';

interface Application {
  readonly kind: Kind;
  readonly version: Version;
  /** The current object in that version; if there is none, the empty object as Go programs write it. */
  readonly live: unknown;
  readonly managers: Managers;
  /** The applied tree, which fits the schema. */
  readonly config: Tree;
  readonly manager: string;
  readonly subresource: string;
  /** True to take over fields that others own. */
  readonly force: boolean;
  readonly now: string;
  readonly ownable: (version: Version) => OwnableFields;
}

interface Applied {
  /** The result in the version of the configuration; not decoded. */
  readonly tree: unknown;
  readonly managers: Managers;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';

/** Applies a configuration. Throws a Conflict over fields of others unless forced, and 413 for too many fields. */
export function applyConfiguration(application: Application): Applied {
  const { config, live, manager, version } = application;
  checkApplicable(version, live);
  checkApplicable(version, config);
  const tracked = application.managers.size > 0 ? application : { ...application, managers: untracked(application) };
  const { tree, ...applied } = merged(tracked);
  return { ...applied, tree: manager === KUBECTL ? withLastApplied(tree, config) : tree };
}

/** Returns the manager of everything that an object contains before it is first applied to. */
function untracked({ kind, version, live, managers, subresource, now, ownable }: Application): Managers {
  const before = new VersionedTree(kind, version, zeroObject(version.schema));
  const after = new VersionedTree(kind, version, live);
  const { apiVersion } = version;
  const updater = { manager: BEFORE_FIRST_APPLY, apiVersion, subresource, time: now };
  return afterUpdate({ kind, version, before, after, ownable }, managers, updater);
}

function merged(application: Application): Applied {
  const { kind, version, live, managers, config, manager, subresource, now, ownable } = application;
  const { apiVersion } = version;
  const own = { manager, operation: 'Apply', apiVersion, subresource } as const;
  const identifier = identifierOf(own);
  const last = managers.get(identifier);
  const fields = ownable(version)(fieldsOf(version.schema, config));
  const claimed = new Map(managers).set(identifier, { ...own, time: last?.time, fields });
  checkManaged([...claimed.values()].map((each) => each.fields));
  const tree = pruned(application, claimed, last);
  const before = new VersionedTree(kind, version, live);
  const after = new VersionedTree(kind, version, tree);
  const { conflicts, left } = othersAfter({ kind, version, before, after, ownable }, claimed, { applier: identifier });
  checkConflicts(application, conflicts);
  const managed = withoutMetadata(fields);
  const next = new Map(left);
  const isSame = deepEqual(live, tree);
  if (isEmptySet(managed)) next.delete(identifier);
  else next.set(identifier, { ...own, time: isSame ? last?.time : now, fields: managed });
  return { tree: isSame ? live : tree, managers: next };
}

function checkConflicts({ version, live, manager, force }: Application, conflicts: Conflicts): void {
  if (force || conflicts.size === 0) return;
  const left = manager === KUBECTL ? withoutLastApplied(conflicts, version, live) : conflicts;
  if (left.size > 0) throw conflictError(left);
}

/** Returns the merged object without fields that the manager applied before, no longer does, and nobody else owns. */
function pruned({ kind, version, live, config }: Application, managers: Managers, last: Manager | undefined): unknown {
  const tree = mergeFields(version.schema, live, config);
  if (!last || isEmptySet(last.fields)) return tree;
  const lastVersion = versionNamed(kind, last.apiVersion, version);
  if (!lastVersion) return tree;
  const merged = new VersionedTree(kind, version, tree);
  const lastFields = withNamedFields(lastVersion.schema, last.fields);
  let left = new VersionedTree(kind, lastVersion, removeFields(lastVersion.schema, merged.in(lastVersion), lastFields));
  for (const [owning, owned] of ownedByVersion(kind, version, managers, lastVersion)) {
    left = new VersionedTree(kind, owning, withOwned(owning, { merged, left, owned }));
  }
  // Only fields that the manager applied itself are removed, and nothing that merely belonged to them.
  const { schema } = lastVersion;
  const had = withNamedFields(schema, fieldsOf(schema, merged.in(lastVersion)));
  const has = withNamedFields(schema, fieldsOf(schema, left.in(lastVersion) ?? {}));
  const gone = intersection(difference(had, has), lastFields);
  if (isEmptySet(gone)) return tree;
  return new VersionedTree(kind, lastVersion, removeFields(schema, merged.in(lastVersion), gone)).in(version);
}

/** Collects the fields of all managers by version; that of the last configuration comes first. */
function ownedByVersion(kind: Kind, asked: Version, managers: Managers, first: Version): Map<Version, FieldSet> {
  const owned = new Map<Version, FieldSet>([[first, {}]]);
  for (const { apiVersion, fields } of managers.values()) {
    const version = versionNamed(kind, apiVersion, asked);
    if (version) owned.set(version, union(owned.get(version) ?? {}, fields));
  }
  return owned;
}

/** Restores removed fields that somebody owns. */
function withOwned(
  version: Version,
  { merged, left, owned }: { merged: VersionedTree; left: VersionedTree; owned: FieldSet },
): unknown {
  const { schema } = version;
  const before = merged.in(version);
  const had = withNamedFields(schema, fieldsOf(schema, before));
  const has = withNamedFields(schema, fieldsOf(schema, left.in(version) ?? {}));
  return removeFields(schema, before, difference(had, union(has, withNamedFields(schema, owned))));
}

/**
 * The annotation in which client-side apply stores the configuration. kubectl migrates to server-side apply without
 * conflicts about fields that it applied that way itself, and keeps the annotation up to date for clients that still
 * use it.
 */
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The only manager for which the annotation is used. */
const KUBECTL = 'kubectl';

/** Returns the conflicts that remain when the fields in the annotation may be taken over. */
function withoutLastApplied(conflicts: Conflicts, version: Version, live: unknown): Conflicts {
  const allowed = appliedBefore(version, live);
  const left = new Map<Manager, FieldSet>();
  for (const [manager, fields] of conflicts) {
    const others = difference(fields, allowed);
    if (!isEmptySet(others)) left.set(manager, others);
  }
  return left;
}

/** Returns the fields that client-side apply set and nobody has changed since. */
function appliedBefore(version: Version, live: unknown): FieldSet {
  const config = parsed(annotationsOf(live)?.[ANNOTATION]);
  if (!isTree(config) || config.apiVersion !== version.apiVersion) return NO_FIELDS;
  if (checkFields(version.schema, config).length > 0) return NO_FIELDS;
  const { added, modified, removed } = compareFields(version.schema, config, live);
  return [added, modified, removed].reduce(difference, fieldsOf(version.schema, config));
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function annotationsOf(object: unknown): Tree | undefined {
  const metadata = isTree(object) ? object.metadata : undefined;
  const annotations = isTree(metadata) ? metadata.annotations : undefined;
  return isTree(annotations) ? annotations : undefined;
}

/** Returns the object with the configuration in the annotation, if it has the annotation and the size limit permits. */
function withLastApplied(object: unknown, config: Tree): unknown {
  const annotations = annotationsOf(object);
  if (!isTree(object) || !annotations?.[ANNOTATION]) return object;
  const { [ANNOTATION]: _, ...others } = annotationsOf(config) ?? {};
  const metadata = { ...(config.metadata as Tree), ...(annotationsOf(config) ? { annotations: others } : {}) };
  const text = `${rawJson(withSortedKeys({ ...config, metadata }))}\n`;
  const next: Tree = { ...annotations, [ANNOTATION]: text };
  if (sizeOf(next) > MAX_ANNOTATIONS_BYTES) delete next[ANNOTATION];
  return { ...object, metadata: { ...(object.metadata as Tree), annotations: next } };
}

function sizeOf(annotations: Tree): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(`${value}`);
  return bytes;
}

/** Fields that a configuration would change, by the managers that own them. */
type Conflicts = ReadonlyMap<Manager, FieldSet>;

/** Limit for the fields named in an error; further ones are only counted. */
const MAX_NAMED_FIELDS = 1_000;

/** The 409 that names fields and their managers. */
function conflictError(conflicts: Conflicts): ApiError {
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
