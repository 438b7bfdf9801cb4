/** Messages on a TCP connection, each prefixed with its length. */

const LENGTH_BYTES = 2;

export function framed(message: Buffer): Buffer {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt16BE(message.length, 0);
  return Buffer.concat([length, message]);
}

/** Splits the bytes of a connection into messages. Holds at most one incomplete message. */
export class MessageFrames {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** True when part of a message has arrived. */
  get isPartial(): boolean {
    return this.#bytes > 0;
  }

  push(data: Buffer): Buffer[] {
    this.#parts.push(data);
    this.#bytes += data.length;
    // Without this check, single bytes from a client would be copied each time.
    if (this.#bytes < LENGTH_BYTES || this.#bytes < LENGTH_BYTES + this.#length()) return [];
    let rest = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const messages: Buffer[] = [];
    while (rest.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + rest.readUInt16BE(0);
      if (rest.length < end) break;
      messages.push(rest.subarray(LENGTH_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
    return messages;
  }

  /** Returns the length of the first message; its two bytes can be in different chunks. */
  #length(): number {
    const [first, second] = this.#parts;
    return first!.length >= LENGTH_BYTES ? first!.readUInt16BE(0) : first![0]! * 256 + second![0]!;
  }
}
