/** From this size on, copying bytes to the thread that sends them would cost more than sending them. */
const MIN_SHARED_BYTES = 128 * 1024;

/** Joins buffers into one that other threads can read in place if it is large. */
export function joinSharable(parts: readonly Uint8Array[]): Buffer {
  const out = allocateSharable(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Whether other threads can read the buffer in place. */
export function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}

/**
 * Allocates an uninitialized buffer. A large one is in shared memory, so that other threads can read it in place. V8 does not
 * count shared memory when it decides whether to collect garbage: for what many clients get, not for every response.
 */
export function allocateSharable(length: number): Buffer {
  return length < MIN_SHARED_BYTES ? Buffer.allocUnsafe(length) : Buffer.from(new SharedArrayBuffer(length));
}
