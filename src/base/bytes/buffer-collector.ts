/** Minimum size of counted buffers: smaller ones add up slowly, and V8 collects them in time. */
const MIN_COUNTED_BYTES = 64 * 1024;
/** Limit for large buffers between two collections. */
const MAX_UNCOLLECTED_BYTES = 16 * 1024 * 1024;

/**
 * Collects garbage when many bytes in large buffers have passed through the thread. The heap of the front thread is
 * small, so V8 sees little reason to collect it, while the buffers that it refers to take hundreds of megabytes.
 */
export class BufferCollector {
  /** Number of collections, including one that is about to run. */
  collections = 0;
  #bytes = 0;

  constructor(private readonly collect: () => void) {}

  /** Counts memory that was sent, received or released. */
  passed(bytes: number): void {
    if (bytes < MIN_COUNTED_BYTES) return;
    this.#bytes += bytes;
    if (this.#bytes < MAX_UNCOLLECTED_BYTES) return;
    this.#bytes = 0;
    this.collections++;
    setImmediate(this.collect);
  }
}
