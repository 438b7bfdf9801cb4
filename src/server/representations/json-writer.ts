/**
 * JSON that is put together from many pieces, as bytes from the start: a string of so many pieces is put together once more
 * when it is turned into bytes, and what is kept as bytes would be turned into strings and back.
 */
export class JsonWriter {
  #bytes: Buffer;
  #end = 0;
  /** Texts in a row are written at once. */
  #text = '';

  /** `room` is about what is going to be written. */
  constructor(room: number) {
    this.#bytes = Buffer.allocUnsafe(room);
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

  /** Makes room for what comes behind it, too. */
  #writeText(more: number): void {
    // No character takes more than three bytes for each unit of a string.
    const needed = this.#end + this.#text.length * 3 + more;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    this.#end += this.#bytes.write(this.#text, this.#end);
    this.#text = '';
  }
}
