/** The directives of strategic merge patches, and errors about them. */
import { isTree, put, type Tree } from '../../base/json/tree.ts';
import { goText } from '../go-text.ts';
import { checkDepth, PatchError } from './patch-error.ts';

export const PATCH = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const ORDER = '$setElementOrder';
export const DELETE = '$deleteFromPrimitiveList';

export const badPatch = (message: string, redacted?: string) => new PatchError('BadRequest', message, redacted);

export const unknownDirective = (directive: unknown, patch: Tree) =>
  badPatch(`unknown patch type: ${goText(directive)} in map: ${goText(patch)}`, 'unknown patch type in map');

export const noMergeKey = (item: Tree, key: string) =>
  badPatch(
    `map: ${goText(item)} does not contain declared merge key: ${key}`,
    `map does not contain declared merge key: ${key}`,
  );

/**
 * Returns a part of a patch for which the object has no counterpart: without nulls, and without objects that only carry
 * a directive. Undefined when it is such an object itself.
 */
export function withoutDirectives(value: unknown, depth: number): unknown {
  checkDepth(depth);
  if (Array.isArray(value)) {
    return value.map((item) => withoutDirectives(item, depth + 1)).filter((item) => item !== undefined);
  }
  if (!isTree(value)) return value;
  if (Object.hasOwn(value, PATCH)) return undefined;
  const out: Tree = {};
  for (const key in value) {
    const item = value[key] === null ? undefined : withoutDirectives(value[key], depth + 1);
    if (item !== undefined) put(out, key, item);
  }
  return out;
}
