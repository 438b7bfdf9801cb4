/**
 * The annotation in which client-side apply stores the configuration. kubectl migrates to server-side apply without
 * conflicts about fields that it applied that way itself, and keeps the annotation up to date for clients that still
 * use it.
 */

import { rawJson, withSortedKeys } from '../../../base/json/raw-json.ts';
import { isTree, type Tree } from '../../../base/json/tree.ts';
import type { Version } from '../../../kinds/kind.ts';
import { checkFields } from '../../../schema/fields/check.ts';
import { compareFields } from '../../../schema/fields/compare.ts';
import { difference, type FieldSet, isEmptySet, NO_FIELDS } from '../../../schema/fields/field-set.ts';
import { fieldsOf } from '../../../schema/fields/fields-of.ts';
import type { Conflicts } from './conflict.ts';
import type { Manager } from './managers.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The only manager for which the annotation is used. */
export const KUBECTL = 'kubectl';

/** Returns the conflicts that remain when the fields in the annotation may be taken over. */
export function withoutLastApplied(conflicts: Conflicts, version: Version, live: unknown): Conflicts {
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
export function withLastApplied(object: unknown, config: Tree): unknown {
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
