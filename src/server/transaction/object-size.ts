/**
 * How large an object may become. A body is limited, but patches, defaults and webhooks add to what is stored, and every
 * later request for the object takes time for all of it.
 */
import { ApiError } from '../../base/errors.ts';
import { hasMoreParts } from '../../base/json/size.ts';

const MAX_OBJECT_BYTES = 4 * 1024 * 1024;
/** Of fields, list items, objects and lists: twice as many as a body may have. */
const MAX_OBJECT_PARTS = 500_000;
/** In a smaller object there is no room for more parts. */
const MIN_COUNTED_BYTES = MAX_OBJECT_PARTS;

/** Throws when an object is too large. One that was stored before there was a limit may stay, but not grow. */
export function checkSize(bytes: Buffer, before: Buffer | undefined): void {
  if (bytes.length <= MIN_COUNTED_BYTES || (before && bytes.length <= before.length)) return;
  if (bytes.length > MAX_OBJECT_BYTES) throw tooLarge(`${MAX_OBJECT_BYTES} bytes`);
  if (hasMoreParts(bytes, MAX_OBJECT_PARTS)) throw tooLarge(`${MAX_OBJECT_PARTS} fields and list items`);
}

const tooLarge = (limit: string) =>
  new ApiError('RequestEntityTooLarge', `Request entity too large: the object would have more than ${limit}`);
