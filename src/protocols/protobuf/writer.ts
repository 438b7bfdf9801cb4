/**
 * Writes protobuf from the end to the beginning, because the length of a message precedes it, and is known once it is
 * written. Callers write the fields of a message, and the elements of a repeated field, in reverse order. After finish() the
 * writer can be used again.
 */
export class ProtoWriter {
  #buffer: Buffer;
  /** Start of the bytes written so far. */
  #start: number;

  /** `size` should be enough for most messages. */
  constructor(private readonly size: number) {
    this.#buffer = Buffer.allocUnsafeSlow(size);
    this.#start = size;
  }

  string(field: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#start -= length;
    this.#buffer.write(text, this.#start);
    this.#varint(length);
    this.#tag(field, DELIMITED);
  }

  bytes(field: number, bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#start -= bytes.length;
    this.#buffer.set(bytes, this.#start);
    this.#varint(bytes.length);
    this.#tag(field, DELIMITED);
  }

  boolean(field: number, value: boolean): void {
    this.#varint(value ? 1 : 0);
    this.#tag(field, VARINT);
  }

  /** Writes a whole number from 0 up to 2^53. */
  number(field: number, value: number): void {
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  /** Writes a whole number from -2^53 to 2^53. */
  signed(field: number, value: number): void {
    if (value >= 0) this.#varint(value);
    else this.#negative(value);
    this.#tag(field, VARINT);
  }

  /** Writes an unsigned number of 64 bits, such as an identifier. */
  uint64(field: number, value: bigint): void {
    this.#reserve(MAX_VARINT);
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#start -= bytes.length;
    this.#buffer.set(bytes, this.#start);
    this.#tag(field, VARINT);
  }

  double(field: number, value: number): void {
    this.#reserve(DOUBLE_BYTES);
    this.#start -= DOUBLE_BYTES;
    this.#buffer.writeDoubleLE(value, this.#start);
    this.#tag(field, FIXED64);
  }

  message(field: number, write: () => void): void {
    const end = this.length;
    write();
    this.wrap(field, end);
  }

  get length(): number {
    return this.#buffer.length - this.#start;
  }

  /** Turns everything that was written since there were `length` bytes into a message: message() without a function. */
  wrap(field: number, length: number): void {
    this.#varint(this.length - length);
    this.#tag(field, DELIMITED);
  }

  finish(): Buffer {
    const written = this.#buffer.subarray(this.#start);
    if (this.#buffer.length === this.size) {
      this.#start = this.size;
      return Buffer.from(written);
    }
    // The message keeps the buffer, which was enlarged for it.
    this.#buffer = Buffer.allocUnsafeSlow(this.size);
    this.#start = this.size;
    return written;
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type);
  }

  #varint(value: number): void {
    this.#reserve(MAX_VARINT);
    if (value <= 0x7f) {
      this.#buffer[--this.#start] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
    this.#start -= size;
    let at = this.#start;
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[at++] = (rest % 128) + 0x80;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[at] = rest;
  }

  /** Writes 64 bits of two's complement, which always take ten bytes. */
  #negative(value: number): void {
    this.#reserve(MAX_VARINT);
    this.#start -= MAX_VARINT;
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let at = 0; at < MAX_VARINT; at++) {
      this.#buffer[this.#start + at] = Number(rest & 0x7fn) | (at < MAX_VARINT - 1 ? 0x80 : 0);
      rest >>= 7n;
    }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#start) return;
    const written = this.#buffer.length - this.#start;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, written + bytes + MAX_VARINT));
    this.#buffer.copy(larger, larger.length - written, this.#start);
    this.#start = larger.length - written;
    this.#buffer = larger;
  }
}

const VARINT = 0;
const FIXED64 = 1;
const DOUBLE_BYTES = 8;
const DELIMITED = 2;
const MAX_VARINT = 10;
