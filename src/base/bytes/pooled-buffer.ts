/**
 * Memory for bytes that are served: an object with its managers has more than the 4 KB up to which Node's pool has room, and
 * memory of its own costs as much as encoding the object, and V8 a collection more often. What was allocated together is
 * about as old, so that it is freed together.
 */
const SLAB_BYTES = 64 * 1024;
const MAX_POOLED_BYTES = SLAB_BYTES / 4;

let slab = Buffer.alloc(0);
let used = 0;

/** An uninitialized buffer. */
export function allocatePooled(length: number): Buffer {
  if (length > MAX_POOLED_BYTES) return Buffer.allocUnsafeSlow(length);
  if (used + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}
