/** From this size on, copying bytes to the thread that sends them would cost more than sending them. */
const MIN_SHARED_BYTES = 128 * 1024;

/** Allocates an uninitialized buffer. A large one is in shared memory, so that other threads can read it in place. */
export function allocateSharable(length: number): Buffer {
  return length < MIN_SHARED_BYTES ? Buffer.allocUnsafe(length) : Buffer.from(new SharedArrayBuffer(length));
}
