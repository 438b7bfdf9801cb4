import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes processed in one turn of the event loop: about two milliseconds. */
const TURN_BYTES = 128 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const NEWLINE = 0x0a;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACE = 0x7d;
const CLOSING_BRACKET = 0x5d;

/**
 * Indents JSON that has no white space between its tokens, as `JSON.stringify(…, null, 2)` would, with a newline at the end.
 * Does not parse it, and yields to other requests.
 */
export async function prettyJson(json: Buffer): Promise<Buffer> {
  const out = new IndentedWriter(json.length * 2);
  for (let at = 0; at < json.length; at = out.add(json, at, at + TURN_BYTES)) if (at > 0) await nextTurn();
  return out.done();
}

class IndentedWriter {
  #out: Buffer;
  #length = 0;
  #depth = 0;
  #isInString = false;

  constructor(size: number) {
    this.#out = Buffer.allocUnsafe(size);
  }

  /** Writes the bytes from `at` to `end`, or a few more. Returns the position where it stopped. */
  add(json: Buffer, start: number, end: number): number {
    let at = start;
    const last = Math.min(end, json.length);
    while (at < last) {
      const byte = json[at++]!;
      if (this.#length + 2 * this.#depth + 8 > this.#out.length) this.#grow();
      this.#out[this.#length++] = byte;
      if (this.#isInString) {
        if (byte === BACKSLASH) this.#out[this.#length++] = json[at++]!;
        else if (byte === QUOTE) this.#isInString = false;
        continue;
      }
      switch (byte) {
        case QUOTE:
          this.#isInString = true;
          break;
        case OPENING_BRACE:
        case OPENING_BRACKET:
          if (json[at] === CLOSING_BRACE || json[at] === CLOSING_BRACKET) this.#out[this.#length++] = json[at++]!;
          else this.#breakLine(++this.#depth);
          break;
        case CLOSING_BRACE:
        case CLOSING_BRACKET:
          this.#length--;
          this.#breakLine(--this.#depth);
          this.#out[this.#length++] = byte;
          break;
        case COMMA:
          this.#breakLine(this.#depth);
          break;
        case COLON:
          this.#out[this.#length++] = SPACE;
          break;
      }
    }
    return at;
  }

  done(): Buffer {
    if (this.#length === this.#out.length) this.#grow();
    this.#out[this.#length++] = NEWLINE;
    return this.#out.subarray(0, this.#length);
  }

  #breakLine(depth: number): void {
    this.#out[this.#length++] = NEWLINE;
    this.#out.fill(SPACE, this.#length, this.#length + 2 * depth);
    this.#length += 2 * depth;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(this.#out.length * 2 + 4096);
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }
}
