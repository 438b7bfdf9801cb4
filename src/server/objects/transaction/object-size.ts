/**
 * Limits the size of stored objects. Bodies are limited, but patches, defaults and webhooks add to the stored object,
 * and every later request for the object takes time for all of it.
 */
import { ApiError } from '../../../api/errors.ts';
import { hasMoreParts } from '../../../base/json/size.ts';
import { isTree } from '../../../base/json/tree.ts';

const MAX_OBJECT_BYTES = 4 * 1024 * 1024;
/** Limit for fields, list items, objects and lists: twice that of a body. */
const MAX_OBJECT_PARTS = 500_000;
/** Size below which an object cannot have more parts than the limit. */
const MIN_COUNTED_BYTES = MAX_OBJECT_PARTS;

/** Throws when an object is too large. One stored before the limit existed may stay, but not grow. */
export function checkSize(bytes: Buffer, before: Buffer | undefined): void {
  if (bytes.length <= MIN_COUNTED_BYTES || (before && bytes.length <= before.length)) return;
  if (bytes.length > MAX_OBJECT_BYTES) throw tooLarge(`${MAX_OBJECT_BYTES} bytes`);
  if (hasMoreParts(bytes, MAX_OBJECT_PARTS)) throw tooLarge(`${MAX_OBJECT_PARTS} fields and list items`);
}

interface TreeSize {
  /** Number of fields, list items, objects and lists. */
  readonly parts: number;
  /** Total length of keys and strings. */
  readonly characters: number;
}

export function isTooLarge({ parts, characters }: TreeSize): boolean {
  return parts > MAX_OBJECT_PARTS || characters > MAX_OBJECT_BYTES;
}

/** Checks the size of an object after admission, which may change it many times before it is encoded. */
export function checkTree(tree: unknown): void {
  if (isTooLarge(sizeOfTree(tree)))
    throw tooLarge(`${MAX_OBJECT_BYTES} bytes or ${MAX_OBJECT_PARTS} fields and list items`);
}

function sizeOfTree(tree: unknown): TreeSize {
  let parts = 0;
  let characters = 0;
  const add = (value: unknown): void => {
    parts++;
    if (typeof value === 'string') characters += value.length;
    else if (Array.isArray(value)) for (const item of value) add(item);
    else if (isTree(value)) {
      for (const key in value) {
        characters += key.length;
        add(value[key]);
      }
    }
  };
  add(tree);
  return { parts, characters };
}

const tooLarge = (limit: string) =>
  new ApiError('RequestEntityTooLarge', `Request entity too large: the object would have more than ${limit}`);
