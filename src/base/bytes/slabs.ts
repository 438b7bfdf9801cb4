/**
 * Memory for buffers of some KB that are about equally old: many share a slab, which is freed as a whole. V8 counts
 * memory of its own for each buffer, and collects more often.
 */
export class Slabs {
  #slab = Buffer.alloc(0);
  #used = 0;

  constructor(private readonly slabBytes: number) {}

  /** Returns an uninitialized buffer. A large one has memory of its own. */
  allocate(length: number): Buffer {
    if (length > this.slabBytes / 4) return Buffer.allocUnsafeSlow(length);
    if (this.#used + length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(this.slabBytes);
      this.#used = 0;
    }
    this.#used += length;
    return this.#slab.subarray(this.#used - length, this.#used);
  }

  /** Shortens the buffer that was allocated last. */
  shorten(last: Buffer, length: number): Buffer {
    const bytes = last.subarray(0, length);
    if (last.buffer !== this.#slab.buffer) return Buffer.from(bytes);
    this.#used -= last.length - length;
    return bytes;
  }
}

/**
 * Slabs for response bytes. An object with managed fields exceeds the 4 KB that fit Node's pool; with memory of its own
 * for each, a merge patch took a tenth longer (bench/README.md).
 */
export const responseSlabs = new Slabs(64 * 1024);

/**
 * Slabs for stored objects, which are small and live long. In Node's pool each would keep its short-lived neighbours
 * from being freed: memory under load was a third higher (bench/README.md).
 */
export const objectSlabs = new Slabs(256 * 1024);
