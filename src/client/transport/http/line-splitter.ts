const NEWLINE = 0x0a;

/** Splits a stream of chunks into lines. A line that spans chunks is joined once, when it is complete. */
export class LineSplitter {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** `maxBytes`: lines that span chunks and are longer throw. */
  constructor(private readonly maxBytes = Number.POSITIVE_INFINITY) {}

  /** Size of the line that has not ended yet. */
  get unfinishedBytes(): number {
    return this.#bytes;
  }

  /** Returns the lines that end in this chunk, without line breaks and empty lines. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#finish(chunk.subarray(start, end));
      if (line) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#parts.push(chunk.subarray(start));
      this.#bytes += chunk.length - start;
      if (this.#bytes > this.maxBytes) throw new Error(`a line is larger than ${this.maxBytes} bytes`);
    }
    return lines;
  }

  #finish(tail: Buffer): string {
    if (this.#parts.length === 0) return tail.toString('utf8');
    this.#parts.push(tail);
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole.toString('utf8');
  }
}
