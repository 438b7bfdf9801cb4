import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** The bytes of the heap that are in use after a garbage collection. */
export function heapUsed(): number {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  return process.memoryUsage().heapUsed;
}

/**
 * Works like `heapUsed`, with the memory of buffers. Another thread frees those after a collection; the next one waits
 * for it.
 */
export function bytesUsed(): number {
  heapUsed();
  return heapUsed() + process.memoryUsage().arrayBuffers;
}
