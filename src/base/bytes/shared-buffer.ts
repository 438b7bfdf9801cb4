import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { allocatePooled } from './pooled-buffer.ts';

/** From this size on, copying bytes to the thread that sends them would cost more than sending them. */
const MIN_SHARED_BYTES = 128 * 1024;
/** From this size on, giving memory to another thread costs less than a copy. */
const MIN_MOVABLE_BYTES = 16 * 1024;
/** Of shared memory in this thread, in use or not. */
const MAX_UNCOLLECTED_BYTES = 40 * 1024 * 1024;
/** The number of the memory, before its content. */
const HEADER_BYTES = 8;

let allocations = 0;
let uncollectedBytes = 0;
let releasedBytes = 0;
const collected = new FinalizationRegistry<number>((bytes) => {
  uncollectedBytes -= bytes;
  releasedBytes += bytes;
});

/**
 * Returns how much shared memory this thread has let go since the last call. It is freed when the threads that it was sent to
 * have collected their references to it as well, which V8 sees no reason to do.
 */
export function takeReleasedBytes(): number {
  const bytes = releasedBytes;
  releasedBytes = 0;
  return bytes;
}

/** Allocates an uninitialized buffer that is sent once. A large one has memory of its own, which `makeMovable` lets go. */
export function allocateForSending(length: number): Buffer {
  return length < MIN_MOVABLE_BYTES ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
}

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

/** Buffers that have one reader left, which sends them. A part of one is not among them. */
const movable = new WeakSet<Uint8Array>();

/**
 * Declares that nobody reads the buffer after it was sent: its memory may then be given to another thread. A part of some
 * memory stays where it is, unless the caller says that the rest is not in use.
 */
export function makeMovable(
  bytes: Buffer,
  { isAlone = bytes.length === bytes.buffer.byteLength }: { readonly isAlone?: boolean } = {},
): Buffer {
  if (isAlone && bytes.length >= MIN_MOVABLE_BYTES && !isShared(bytes)) movable.add(bytes);
  return bytes;
}

/** Whether the memory may be given to another thread instead of being copied. */
export function isMovable(bytes: Uint8Array): boolean {
  return movable.has(bytes);
}

/** Frees the memory of a buffer that only its caller still refers to, if it may be moved. V8 would wait for a collection. */
export function free(bytes: Uint8Array): void {
  // What is transferred to a closed port is dropped.
  if (isMovable(bytes)) nowhere().postMessage(undefined, [bytes.buffer as ArrayBuffer]);
}

let closedPort: MessagePort | undefined;

function nowhere(): MessagePort {
  if (!closedPort) {
    closedPort = new MessageChannel().port1;
    closedPort.close();
  }
  return closedPort;
}

/** Whether other threads can read the buffer in place. */
export function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}

/**
 * The number of the shared memory that a buffer of `allocateSharable` is in. Every message with the buffer makes another
 * object for the same memory in the thread that receives it, so that objects do not tell which ones share it.
 */
export function sharedMemoryNumber({ buffer }: Uint8Array): number {
  return new Uint32Array(buffer, 0, 1)[0]!;
}

/**
 * Allocates an uninitialized buffer. A large one is in shared memory, so that other threads can read it in place. V8 does not
 * count shared memory when it decides whether to collect garbage, so that unused buffers could add up without limit: while
 * too much of it has not been collected, buffers are in ordinary memory, which V8 counts.
 */
export function allocateSharable(length: number): Buffer {
  if (length < MIN_SHARED_BYTES) return allocatePooled(length);
  if (uncollectedBytes + length > MAX_UNCOLLECTED_BYTES) return Buffer.allocUnsafeSlow(length);
  const memory = new SharedArrayBuffer(HEADER_BYTES + length);
  new Uint32Array(memory, 0, 1)[0] = ++allocations;
  uncollectedBytes += length;
  collected.register(memory, length);
  return Buffer.from(memory, HEADER_BYTES, length);
}
