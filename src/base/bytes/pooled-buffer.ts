/**
 * Slabs for response bytes. An object with managed fields is larger than the 4 KB that fit Node's pool, and memory of
 * its own costs as much as encoding the object, and makes V8 collect more often. Buffers allocated together have about
 * the same age, so a slab is freed as a whole.
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
