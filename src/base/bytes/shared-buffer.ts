import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { responseSlabs } from './slabs.ts';

/** Minimum size for shared memory: above it, copying bytes to another thread would cost more than sending them. */
const MIN_SHARED_BYTES = 128 * 1024;
/** Minimum size for moving memory to another thread: below it, a copy is cheaper. */
const MIN_MOVABLE_BYTES = 16 * 1024;
/** Limit for shared memory allocated by this thread and not collected yet. */
const MAX_UNCOLLECTED_BYTES = 40 * 1024 * 1024;
/** A header with the number of the memory, before its content. */
const HEADER_BYTES = 8;

let allocations = 0;
let uncollectedBytes = 0;
let releasedBytes = 0;
const collected = new FinalizationRegistry<number>((bytes) => {
  uncollectedBytes -= bytes;
  releasedBytes += bytes;
});

/**
 * Returns how much shared memory this thread has released since the last call. The memory is freed only when the
 * receiving threads have collected their references as well, which V8 sees no reason to do.
 */
export function takeReleasedBytes(): number {
  const bytes = releasedBytes;
  releasedBytes = 0;
  return bytes;
}

/** Allocates an uninitialized buffer that is sent once. `makeMovable` allows to transfer a large one. */
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

/** Buffers with one remaining reader, which sends them. Slices of these buffers are not included. */
const movable = new WeakSet<Uint8Array>();

/**
 * Declares that nobody reads the buffer after it is sent, so that its memory may be transferred to another thread. A
 * slice is not transferred, unless the caller declares that the rest of the memory is unused.
 */
export function makeMovable(
  bytes: Buffer,
  { isAlone = bytes.length === bytes.buffer.byteLength }: { readonly isAlone?: boolean } = {},
): Buffer {
  if (isAlone && bytes.length >= MIN_MOVABLE_BYTES && !isShared(bytes)) movable.add(bytes);
  return bytes;
}

/** Reports whether the memory may be transferred to another thread instead of being copied. */
export function isMovable(bytes: Uint8Array): boolean {
  return movable.has(bytes);
}

/**
 * Frees the memory of a movable buffer that only its caller still refers to. V8 would wait for a collection, and run one
 * for every 64 MB: following a log of 154 MB cost its helper threads 300 ms, and none since (bench/README.md).
 */
export function free(bytes: Uint8Array): void {
  // Memory transferred to a closed port is freed.
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

/** Reports whether other threads can read the buffer in place. */
export function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}

/**
 * Identifies the shared memory that a buffer of `allocateSharable` is in. Each message creates another object for the
 * same memory in the receiving thread, so object identity does not tell.
 */
export function sharedMemoryNumber({ buffer }: Uint8Array): number {
  return new Uint32Array(buffer, 0, 1)[0]!;
}

/**
 * Allocates an uninitialized buffer. A large one is in shared memory, so that other threads can read it in place. V8
 * does not count shared memory when it decides whether to collect garbage, so unused buffers could add up without
 * limit: while too much shared memory is uncollected, ordinary memory is used, which V8 counts.
 */
export function allocateSharable(length: number): Buffer {
  if (length < MIN_SHARED_BYTES) return responseSlabs.allocate(length);
  if (uncollectedBytes + length > MAX_UNCOLLECTED_BYTES) return Buffer.allocUnsafeSlow(length);
  const memory = new SharedArrayBuffer(HEADER_BYTES + length);
  new Uint32Array(memory, 0, 1)[0] = ++allocations;
  uncollectedBytes += length;
  collected.register(memory, length);
  return Buffer.from(memory, HEADER_BYTES, length);
}
