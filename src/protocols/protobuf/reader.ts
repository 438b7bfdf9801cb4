/**
 * Reads protobuf, field by field: next() moves to a field and returns its number, and exactly one of the other methods
 * reads its value. Throws ProtobufError for malformed messages, and for fields of an unexpected wire type.
 */
export class ProtoReader {
  readonly #bytes: Buffer;
  #at = 0;
  #end: number;
  #type = VARINT;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** Moves to the next field and returns its number; 0 at the end. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#varint();
    this.#type = tag & 7;
    const field = Math.floor(tag / 8);
    if (field === 0) throw new ProtobufError('a field has the number 0');
    return field;
  }

  /** Reads a whole number, exact up to 2^53. */
  number(): number {
    this.#expect(VARINT);
    return this.#varint();
  }

  /** Reads a number that may be negative. */
  signed(): number {
    this.#expect(VARINT);
    return this.#signed();
  }

  /** Reads an unsigned number of 64 bits, such as an identifier. */
  uint64(): bigint {
    this.#expect(VARINT);
    let value = 0n;
    for (let size = 0; size < MAX_VARINT; size++) {
      if (this.#at >= this.#end) throw cut();
      const byte = this.#bytes[this.#at++] as number;
      value |= BigInt(byte & 0x7f) << BigInt(7 * size);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError('a number is longer than ten bytes');
  }

  /** Reads an occurrence of a repeated number: one, or all packed. At most one more than the maximum is read. */
  signedList(max = Number.POSITIVE_INFINITY): number[] {
    if (this.#type !== DELIMITED) return [this.signed()];
    return this.message(() => {
      const numbers: number[] = [];
      while (this.#at < this.#end && numbers.length <= max) numbers.push(this.#signed());
      return numbers;
    });
  }

  double(): number {
    this.#expect(FIXED_64);
    const start = this.#at;
    this.#pass(8);
    return this.#bytes.readDoubleLE(start);
  }

  boolean(): boolean {
    return this.number() !== 0;
  }

  /** Reads bytes, which share the memory of the message. */
  bytes(): Buffer {
    const length = this.#length();
    const start = this.#at;
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }

  string(): string {
    const length = this.#length();
    const start = this.#at;
    this.#at += length;
    return this.#bytes.toString('utf8', start, this.#at);
  }

  /** `read` gets this reader, limited to the inner message. */
  message<T>(read: (reader: ProtoReader) => T): T {
    const length = this.#length();
    const end = this.#end;
    this.#end = this.#at + length;
    const value = read(this);
    this.#at = this.#end;
    this.#end = end;
    return value;
  }

  skip(): void {
    switch (this.#type) {
      case VARINT:
        this.#varint();
        break;
      case FIXED_64:
        this.#pass(8);
        break;
      case DELIMITED:
        this.#pass(this.#varint());
        break;
      case FIXED_32:
        this.#pass(4);
        break;
      default:
        throw new ProtobufError(`fields of type ${this.#type} are not known`);
    }
  }

  #length(): number {
    this.#expect(DELIMITED);
    const length = this.#varint();
    if (length > this.#end - this.#at) throw cut();
    return length;
  }

  #pass(length: number): void {
    if (length > this.#end - this.#at) throw cut();
    this.#at += length;
  }

  #expect(type: number): void {
    if (this.#type !== type) throw new ProtobufError(`a field has type ${this.#type}, not ${type}`);
  }

  /** Reads a number that may be negative, and then takes ten bytes: combined from two halves, exact in a double. */
  #signed(): number {
    const start = this.#at;
    const value = this.#varint();
    if (this.#at - start < 8) return value;
    let low = 0;
    let high = 0;
    for (let at = start, shift = 0; at < this.#at; at++, shift += 7) {
      const part = (this.#bytes[at] as number) & 0x7f;
      if (shift < 32) low |= part << shift;
      if (shift > 32) high |= part << (shift - 32);
      else if (shift > 25) high |= part >> (32 - shift);
    }
    return high * 2 ** 32 + (low >>> 0);
  }

  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let size = 0; size < MAX_VARINT; size++) {
      if (this.#at >= this.#end) throw cut();
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new ProtobufError('a number is too long');
  }
}

export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

function cut(): ProtobufError {
  return new ProtobufError('the message ends in the middle of a field');
}

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const FIXED_32 = 5;
const MAX_VARINT = 10;
