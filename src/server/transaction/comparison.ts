import { deepEqual, type Tree } from '../../base/json/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';

const NOT_DESIRED: ReadonlySet<string> = new Set(['status', 'metadata', 'apiVersion', 'kind']);

/** Whether two objects are the same but for their metadata and status. */
export function sameDesiredState(object: KubeObject, old: KubeObject): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!NOT_DESIRED.has(field) && !sameField(object, old, field)) return false;
  }
  return true;
}

function sameField(object: object, old: object, field: string): boolean {
  return deepEqual((object as Tree)[field], (old as Tree)[field]);
}

/** Whether a draft is the same as the object that is stored. */
export function sameContent(object: KubeObject, old: KubeObject): boolean {
  return sameMetadata(object, old) && sameField(object, old, 'status') && sameDesiredState(object, old);
}

export function sameMetadata(object: KubeObject, old: KubeObject): boolean {
  const { resourceVersion: _, selfLink: __, ...metadata } = old.metadata;
  return deepEqual(object.metadata, metadata);
}
