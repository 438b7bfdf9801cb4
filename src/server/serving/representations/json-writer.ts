/**
 * Builds JSON from many pieces directly as bytes: a string of as many pieces would be copied once more on encoding, and
 * pieces that are bytes already would be decoded and encoded again.
 */
export class JsonWriter {
  #bytes: Buffer;
  #end = 0;
  /** Consecutive strings, which are written together. */
  #text = '';

  /** `size`: the estimated number of bytes. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  text(text: string): this {
    this.#text += text;
    return this;
  }

  bytes(bytes: Buffer): this {
    this.#writeText(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
    return this;
  }

  done(): Buffer {
    this.#writeText(0);
    return this.#bytes.subarray(0, this.#end);
  }

  /** Writes the pending text, and ensures space for `more` bytes after it. */
  #writeText(more: number): void {
    // UTF-8 takes at most three bytes for each code unit of a string.
    const needed = this.#end + this.#text.length * 3 + more;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    if (this.#text === '') return;
    this.#end += this.#bytes.write(this.#text, this.#end);
    this.#text = '';
  }
}
