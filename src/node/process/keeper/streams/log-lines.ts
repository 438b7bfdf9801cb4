/** Writes what a container prints in the format of CRI: `TIME stdout|stderr F|P TEXT`, one line each. */

/** A longer line is written in parts, marked `P` except for the last. */
const MAX_LINE_BYTES = 16 * 1024;
const NEWLINE = 10;

export type OutputName = 'stdout' | 'stderr';

/** The lines of one output. A line that has no end yet is held back until it has one, or is too long. */
export class LogLines {
  #rest: Buffer = Buffer.alloc(0);

  constructor(private readonly name: OutputName) {}

  /** Returns what is to be appended to the log for a chunk of output. */
  add(chunk: Buffer, time: string): Buffer {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const parts: Buffer[] = [];
    let start = 0;
    for (;;) {
      const end = data.indexOf(NEWLINE, start);
      while ((end === -1 ? data.length : end) - start > MAX_LINE_BYTES) {
        parts.push(this.#head(time, 'P'), data.subarray(start, start + MAX_LINE_BYTES), LINE_END);
        start += MAX_LINE_BYTES;
      }
      if (end === -1) break;
      parts.push(this.#head(time, 'F'), data.subarray(start, end + 1));
      start = end + 1;
    }
    this.#rest = Buffer.from(data.subarray(start));
    return Buffer.concat(parts);
  }

  /** Returns what is left at the end of the output: a line without its end, which counts as a part. */
  end(time: string): Buffer {
    if (this.#rest.length === 0) return this.#rest;
    const line = Buffer.concat([this.#head(time, 'P'), this.#rest, LINE_END]);
    this.#rest = Buffer.alloc(0);
    return line;
  }

  #head(time: string, tag: 'F' | 'P'): Buffer {
    return Buffer.from(`${time} ${this.name} ${tag} `);
  }
}

const LINE_END = Buffer.from('\n');

/** RFC 3339 with nanoseconds, of which a clock of milliseconds knows the first three digits. */
export function logTime(now: number): string {
  const whole = Math.floor(now);
  const nanoseconds = Math.floor((now - whole) * 1e6);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(nanoseconds).padStart(6, '0')}Z`;
}
