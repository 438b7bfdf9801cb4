const NEWLINE = 0x0a;

/** Cuts a stream of chunks into lines. A line over many chunks is put together once, when its end has come. */
export class LineSplitter {
  #parts: Buffer[] = [];

  /** The lines that end in this chunk, without their ends; empty ones are left out. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#finish(chunk.subarray(start, end));
      if (line) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#parts.push(chunk.subarray(start));
    return lines;
  }

  #finish(tail: Buffer): string {
    if (this.#parts.length === 0) return tail.toString('utf8');
    this.#parts.push(tail);
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    return whole.toString('utf8');
  }
}
