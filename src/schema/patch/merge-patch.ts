import { isTree, put, type Tree } from '../../base/json/tree.ts';
import { jsonWord } from '../decode/decode-error.ts';
import { checkDepth, PatchError } from './patch-error.ts';

/**
 * Applies a JSON merge patch (RFC 7386): objects merge, everything else replaces, null deletes. Neither argument is
 * changed, and the result shares the parts that the patch does not touch. Throws a PatchError.
 */
export function applyMergePatch(current: unknown, patch: unknown): unknown {
  if (patch === null) throw new PatchError('BadRequest', 'Invalid JSON Patch');
  if (!isTree(patch)) {
    const message = `json: cannot unmarshal ${jsonWord(patch)} into Go value of type map[string]interface {}`;
    throw new PatchError('BadRequest', `error decoding patch: ${message}`);
  }
  return merge(current, patch, 0);
}

function merge(current: unknown, patch: Tree, depth: number): Tree {
  checkDepth(depth);
  const out: Tree = isTree(current) ? { ...current } : {};
  for (const key in patch) {
    const value = patch[key];
    if (value === null) {
      delete out[key];
    } else {
      put(out, key, isTree(value) ? merge(Object.hasOwn(out, key) ? out[key] : undefined, value, depth + 1) : value);
    }
  }
  return out;
}
