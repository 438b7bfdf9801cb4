/** Turns the bytes of a log file into what a client gets. */

import { makeMovable } from '../../base/bytes/shared-buffer.ts';

type LogStream = 'stdout' | 'stderr';

export interface EntryFilter {
  /** True when every line begins with its time. */
  readonly timestamps: boolean;
  /** The oldest line, in milliseconds since the epoch. */
  readonly since: number | undefined;
  /** One of the streams; undefined: both. */
  readonly stream: LogStream | undefined;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const PARTIAL = 0x50;
const NO_BYTES = Buffer.alloc(0);
/** Time, stream and tag; anything longer is not an entry. */
const MAX_HEAD_BYTES = 256;
/** `2030-01-01T00:00:00.000000000+00:00 `. */
const MAX_TIME_BYTES = 64;

/**
 * Reads entries in chunks of any size, and returns their text. Parts of a line are joined. It holds at most the head of one
 * entry, however long lines are; what is not an entry is left out.
 */
export class EntryReader {
  /** The beginning of an entry whose head has not arrived as a whole. */
  #head: Buffer = NO_BYTES;
  /** Where in an entry the next byte is: in its head, in its text, or in something that is left out. */
  #state: 'head' | 'text' | 'skipped' = 'head';
  #isPartial = false;
  /** True when the next text continues a line. */
  #continues = false;
  /** Where the text of the entries in this chunk goes, and how long it is: the chunk itself, unless text may grow. */
  #out: Buffer = NO_BYTES;
  #length = 0;

  constructor(private readonly filter: EntryFilter) {}

  /** Takes over the memory of the chunk, and returns a part of it. */
  push(chunk: Buffer): Buffer {
    let bytes = chunk;
    if (this.#head.length > 0) {
      bytes = Buffer.concat([this.#head, chunk]);
      this.#head = NO_BYTES;
    }
    // Text never becomes longer without times, so it can move forward in place: that takes half as long as copying it.
    this.#out = this.filter.timestamps ? Buffer.allocUnsafe(bytes.length) : bytes;
    this.#length = 0;
    let at = 0;
    while (at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline < 0 ? bytes.length : newline;
      if (this.#state === 'head') {
        const text = this.#readHead(bytes, at, end);
        if (text === undefined && newline < 0 && end - at <= MAX_HEAD_BYTES) {
          this.#head = Buffer.from(bytes.subarray(at));
          break;
        }
        this.#state = text === undefined || text < 0 ? 'skipped' : 'text';
        if (this.#state === 'text') at = text!;
      }
      if (this.#state === 'text') this.#writeText(bytes, at, end);
      if (newline < 0) break;
      this.#endEntry();
      at = newline + 1;
    }
    const out = this.#out.subarray(0, this.#length);
    this.#out = NO_BYTES;
    return makeMovable(out, { isAlone: true });
  }

  /** Where the text begins; negative if the entry is not wanted, undefined if the head is incomplete or malformed. */
  #readHead(bytes: Buffer, at: number, end: number): number | undefined {
    const first = nextSpace(bytes, at, end);
    if (first >= end) return undefined;
    const second = nextSpace(bytes, first + 1, end);
    // The text of an entry may be empty, without the space before it.
    const tagEnd = nextSpace(bytes, second + 1, end);
    if (second === end || tagEnd === second + 1) return undefined;
    if (tagEnd === bytes.length) return undefined;
    const { timestamps, since, stream: wanted } = this.filter;
    if (wanted && bytes.toString('latin1', first + 1, second) !== wanted) return -1;
    const time = since !== undefined || timestamps ? bytes.toString('latin1', at, first) : '';
    if (since !== undefined && !(Date.parse(time) >= since)) return -1;
    if (timestamps && !this.#continues) this.#writeTime(time, bytes.length - at);
    this.#isPartial = bytes[second + 1] === PARTIAL;
    return Math.min(tagEnd + 1, end);
  }

  #writeText(bytes: Buffer, at: number, end: number): void {
    if (this.#out !== bytes) bytes.copy(this.#out, this.#length, at, end);
    else if (at !== this.#length) bytes.copyWithin(this.#length, at, end);
    this.#length += end - at;
  }

  /** A time may be longer than the head that it replaces. `left` is the size of what comes after it at most. */
  #writeTime(time: string, left: number): void {
    const needed = this.#length + time.length + MAX_TIME_BYTES + left;
    if (needed > this.#out.length) {
      const larger = Buffer.allocUnsafe(needed * 2);
      this.#out.copy(larger, 0, 0, this.#length);
      this.#out = larger;
    }
    this.#length += this.#out.write(`${fixedTime(time)} `, this.#length, 'latin1');
  }

  #endEntry(): void {
    if (this.#state === 'text') {
      if (!this.#isPartial) this.#out[this.#length++] = NEWLINE;
      this.#continues = this.#isPartial;
    }
    this.#state = 'head';
  }
}

/** `end` if there is none before it. The parts of a head are a few bytes long: a native call would cost more. */
function nextSpace(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== SPACE) at++;
  return Math.min(at, end);
}

/** With nine digits of a second, as kubelet prints times. */
function fixedTime(time: string): string {
  const match = /^(.*?:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  return match ? `${match[1]}.${(match[2] ?? '').padEnd(9, '0').slice(0, 9)}${match[3]}` : time;
}

/** The time of the entry that begins at an offset; NaN if there is none. */
export function entryTime(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(SPACE, at);
  return end < 0 ? Number.NaN : Date.parse(bytes.toString('latin1', at, end));
}
