/** Differences of a federated object in single clusters: JSON patches by the name of the cluster. */

import type { AnyObject } from '../../api/object-types.ts';
import { isTree } from '../../base/json/tree.ts';
import { applyJsonPatch } from '../../schema/patch/json-patch.ts';
import { jsonIn } from './names.ts';

type Operations = readonly Readonly<Record<string, unknown>>[];

export interface Overrides {
  /** Returns the number of operations that apply to the cluster. */
  countFor(cluster: string): number;
  /** Returns the object with the changes for the cluster. Throws an error that explains why they do not apply. */
  apply(object: AnyObject, cluster: string): AnyObject;
}

/** Key for all clusters; operations for a named cluster are applied after these. */
const EVERY_CLUSTER = '*';
const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/** Throws an error that explains an invalid annotation. */
export function parseOverrides(text: string | undefined): Overrides {
  const parsed = jsonIn('the overrides are', text, {});
  if (!isTree(parsed)) throw new Error('the overrides are not an object with a JSON patch for each cluster');
  const byCluster = new Map(Object.entries(parsed).map(([cluster, patch]) => [cluster, operationsOf(cluster, patch)]));
  const patchesFor = (cluster: string) =>
    [EVERY_CLUSTER, cluster].flatMap((name) => {
      const operations = byCluster.get(name);
      return operations ? [{ name, operations }] : [];
    });
  return {
    countFor: (cluster) => patchesFor(cluster).reduce((sum, { operations }) => sum + operations.length, 0),
    apply: (object, cluster) =>
      patchesFor(cluster).reduce((patched, { name, operations }) => {
        try {
          return applyJsonPatch(patched, operations) as AnyObject;
        } catch (cause) {
          throw new Error(`the overrides for ${name} cannot be applied: ${(cause as Error).message}`, { cause });
        }
      }, object),
  };
}

function operationsOf(cluster: string, patch: unknown): Operations {
  if (!Array.isArray(patch)) throw new Error(`the overrides for ${cluster} are not a list of operations`);
  return patch.map((operation: unknown, index) => {
    const which = `operation ${index + 1} of the overrides for ${cluster}`;
    if (!isTree(operation)) throw new Error(`${which} is not an object`);
    const { op, path, from } = operation;
    if (typeof op !== 'string' || !OPERATIONS.includes(op)) {
      throw new Error(`${which} has the op ${JSON.stringify(op)}, which is none of ${OPERATIONS.join(', ')}`);
    }
    if (op === 'move' || op === 'copy') checkPath(`the from of ${which}`, from);
    checkPath(`the path of ${which}`, path);
    return operation;
  });
}

/** The federation decides which object it is, and the member its status. */
const FIXED = /^\/(?:apiVersion|kind|status|metadata)?(?:\/|$)/;
const CHANGEABLE_METADATA = /^\/metadata\/(?:labels|annotations)(?:\/|$)/;

function checkPath(what: string, path: unknown): void {
  if (typeof path !== 'string' || !path.startsWith('/')) throw new Error(`${what} does not begin with a slash`);
  if (FIXED.test(path) && !CHANGEABLE_METADATA.test(path)) {
    throw new Error(`${what} is ${path}, which cannot differ between clusters`);
  }
}
