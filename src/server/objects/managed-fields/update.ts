import type { Kind, Version } from '../../../kinds/kind.ts';
import { compareFields } from '../../../schema/fields/compare.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  LEAF,
  NO_FIELDS,
  union,
} from '../../../schema/fields/field-set.ts';
import { capManagers, identifierOf, type Manager, type Managers, withFields } from './managers.ts';
import type { OwnableFields } from './reset-fields.ts';
import { type VersionedTree, versionNamed } from './versioned.ts';

/** An object before and after a write, and the path that it was written through. */
export interface Change {
  readonly kind: Kind;
  /** The version of the request. */
  readonly version: Version;
  readonly before: VersionedTree;
  readonly after: VersionedTree;
  readonly ownable: (version: Version) => OwnableFields;
}

/** The manager of a request other than an apply. */
export type Updater = Pick<Manager, 'manager' | 'apiVersion' | 'subresource'> & { readonly time: string };

/** Removes the changed fields from all managers and gives them to the one that changed them. */
export function afterUpdate(change: Change, managers: Managers, updater: Updater): Managers {
  const { manager, apiVersion, subresource, time } = updater;
  const operation = 'Update';
  const identifier = identifierOf({ manager, operation, apiVersion, subresource });
  const { changed, left } = othersAfter(change, managers, { updater: identifier });
  const own = withoutMetadata(changed);
  if (isEmptySet(own)) return capManagers(left);
  const previous = left.get(identifier);
  const after = new Map(left);
  const fields = previous ? withMembers(previous.fields, own) : own;
  after.set(identifier, { manager, operation, apiVersion, subresource, time, fields });
  return capManagers(after);
}

interface OthersAfter {
  /** Fields added or modified by the write, in the version of the request. */
  readonly changed: FieldSet;
  /** Fields that the write changed although other managers own them. */
  readonly conflicts: ReadonlyMap<Manager, FieldSet>;
  /** The managers with their remaining fields; the same value if they lost nothing. */
  readonly left: Managers;
}

interface Writer {
  /** The manager that applies, which is not compared. */
  readonly applier?: string;
  /** The manager that updates, which keeps the fields that it changed. */
  readonly updater?: string;
}

/** Returns the fields of managers after a write by another one, who takes over the changed fields. */
export function othersAfter(change: Change, managers: Managers, { applier, updater }: Writer): OthersAfter {
  const { kind, version } = change;
  const comparisons = new Map<Version, VersionComparison>();
  const comparisonIn = (asked: Version) => {
    let comparison = comparisons.get(asked);
    if (!comparison) {
      comparison = compareIn(change, asked);
      comparisons.set(asked, comparison);
    }
    return comparison;
  };
  const conflicts = new Map<Manager, FieldSet>();
  const left = new Map<string, Manager>();
  let isSame = true;
  for (const [identifier, manager] of managers) {
    if (identifier === applier) {
      left.set(identifier, manager);
      continue;
    }
    const own = versionNamed(kind, manager.apiVersion, version);
    // Fields in a version that is no longer served cannot be compared.
    if (!own) {
      isSame = false;
      continue;
    }
    const { changed, removed } = comparisonIn(own);
    const conflict = identifier === updater ? NO_FIELDS : intersection(manager.fields, changed);
    if (!isEmptySet(conflict)) conflicts.set(manager, conflict);
    const gone = union(conflict, intersection(manager.fields, removed));
    const kept = withFields(manager, withoutMembers(manager.fields, gone));
    if (kept) left.set(identifier, kept);
    if (kept !== manager) isSame = false;
  }
  return { changed: comparisonIn(version).changed, conflicts, left: isSame ? managers : left };
}

/** Removes members from a set; returns the same set if there is nothing to remove. */
function withoutMembers(fields: FieldSet, gone: FieldSet): FieldSet {
  return isEmptySet(gone) ? fields : difference(fields, gone);
}

/** Adds members to a set; returns the same set if it has all of them. */
function withMembers(fields: FieldSet, added: FieldSet): FieldSet {
  return isEmptySet(difference(added, fields)) ? fields : union(added, fields);
}

/** The changes of a write in one version, limited to what its path may change. */
interface VersionComparison {
  /** Fields that were added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

function compareIn({ before, after, ownable }: Change, version: Version): VersionComparison {
  const { added, modified, removed } = compareFields(version.schema, before.in(version), after.in(version));
  const filter = ownable(version);
  return { changed: filter(union(modified, added)), removed: filter(removed) };
}

const SERVER_METADATA = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

const UNMANAGED: FieldSet = {
  'f:apiVersion': LEAF,
  'f:kind': LEAF,
  'f:metadata': { '.': LEAF, ...Object.fromEntries(SERVER_METADATA.map((name) => [`f:${name}`, LEAF])) },
};

/** Removes fields that nobody manages: the type and the identity of the object. */
export function withoutMetadata(fields: FieldSet): FieldSet {
  return difference(fields, UNMANAGED);
}
