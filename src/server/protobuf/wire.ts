import { isUtf8 } from 'node:buffer';
import { DecodeError } from '../http/decode-error.ts';

export const VARINT = 0;
export const FIXED64 = 1;
export const DELIMITED = 2;
const FIXED32 = 5;

/** Reads one message: its fields follow each other, each with its number and how it is written. */
export class Wire {
  /** Of the field that `next` found. */
  number = 0;
  type = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#end;
  }

  /** Goes to the next field; false at the end. */
  next(): boolean {
    if (this.isEmpty) return false;
    const tag = this.bareInteger();
    this.type = tag & 7;
    this.number = Math.floor(tag / 8);
    if (this.number < 1) throw new DecodeError('proto: illegal tag');
    return true;
  }

  integer(): number {
    this.#expect(VARINT);
    return this.bareInteger();
  }

  /** Without a tag before it, as in a packed list. */
  bareInteger(): number {
    const first = this.#bytes[this.#at]!;
    if (!this.isEmpty && first < 0x80) {
      this.#at++;
      return first;
    }
    return Number(BigInt.asIntN(64, this.#varint()));
  }

  nanoseconds(): bigint {
    this.#expect(VARINT);
    return BigInt.asIntN(64, this.#varint());
  }

  double(): number {
    this.#expect(FIXED64);
    const at = this.#at;
    this.#move(8);
    return this.#bytes.readDoubleLE(at);
  }

  text(): string {
    const bytes = this.bytes();
    if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
    return bytes.toString('utf8');
  }

  bytes(): Buffer {
    const [start, end] = this.#delimited();
    return this.#bytes.subarray(start, end);
  }

  message(): Wire {
    const [start, end] = this.#delimited();
    return new Wire(this.#bytes, start, end);
  }

  skip(): void {
    switch (this.type) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#move(8);
        return;
      case DELIMITED:
        this.#delimited();
        return;
      case FIXED32:
        this.#move(4);
        return;
      default:
        throw new DecodeError(`proto: illegal wireType ${this.type}`);
    }
  }

  #delimited(): [start: number, end: number] {
    this.#expect(DELIMITED);
    const length = this.bareInteger();
    const start = this.#at;
    this.#move(length);
    return [start, this.#at];
  }

  #expect(type: number): void {
    if (this.type !== type) throw new DecodeError(`proto: wrong wireType = ${this.type} for field ${this.number}`);
  }

  #move(length: number): void {
    if (length < 0 || length > this.#end - this.#at) throw new DecodeError('unexpected EOF');
    this.#at += length;
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.isEmpty) throw new DecodeError('unexpected EOF');
      const byte = this.#bytes[this.#at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new DecodeError('proto: integer overflow');
  }
}
