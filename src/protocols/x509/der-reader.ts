/** Reads the subset of DER that certificates and requests need. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** The element with its tag and length. */
  readonly whole: Buffer;
}

/** Splits bytes into consecutive elements; throws a DerError when they end too early. */
export function elementsOf(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const element = first(rest);
    found.push(element);
    rest = rest.subarray(element.whole.length);
  }
  return found;
}

function first(bytes: Buffer): Element {
  const [tag = 0, short] = bytes;
  if (short === undefined) throw new DerError('asn1: syntax error: truncated tag or length');
  const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
  const start = 2 + lengthBytes;
  if (short === 0x80 || lengthBytes > 4 || bytes.length < start) {
    throw new DerError('asn1: syntax error: truncated tag or length');
  }
  const length = lengthBytes === 0 ? short : bytes.readUIntBE(2, lengthBytes);
  if (bytes.length < start + length) throw new DerError('asn1: syntax error: data truncated');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}
