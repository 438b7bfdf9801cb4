/**
 * Writes protobuf from the end to the beginning: a message's length stands before it, and is known once it is written.
 * Callers write the fields of a message, and the elements of a repeated field, in the opposite order.
 */
export class ProtoWriter {
  #buffer = Buffer.allocUnsafe(1 << 20);
  /** Where the bytes written so far begin. */
  #start = this.#buffer.length;

  string(field: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#start -= length;
    this.#buffer.write(text, this.#start);
    this.#varint(length);
    this.#tag(field, DELIMITED);
  }

  boolean(field: number, value: boolean): void {
    this.#varint(value ? 1 : 0);
    this.#tag(field, VARINT);
  }

  message(field: number, write: () => void): void {
    const end = this.#buffer.length - this.#start;
    write();
    this.#varint(this.#buffer.length - this.#start - end);
    this.#tag(field, DELIMITED);
  }

  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#start));
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type);
  }

  #varint(value: number): void {
    this.#reserve(MAX_VARINT);
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

  #reserve(bytes: number): void {
    if (bytes <= this.#start) return;
    const written = this.#buffer.length - this.#start;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, written + bytes));
    this.#buffer.copy(larger, larger.length - written, this.#start);
    this.#start = larger.length - written;
    this.#buffer = larger;
  }
}

const VARINT = 0;
const DELIMITED = 2;
const MAX_VARINT = 10;
