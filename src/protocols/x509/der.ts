/** Writes the subset of DER that certificates need. Each function returns a complete element, with tag and length. */
import { isIPv4 } from 'node:net';

export function element(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(0x80 | bytes.length, ...bytes);
}

export const sequence = (...content: Buffer[]) => element(0x30, ...content);

export const set = (...content: Buffer[]) => element(0x31, ...content);

/** A context-specific tag: `constructed` when it wraps elements, not bytes. */
export const tagged = (number: number, content: Buffer, constructed = true) =>
  element((constructed ? 0xa0 : 0x80) | number, content);

export const boolean = (value: boolean) => element(0x01, Buffer.of(value ? 0xff : 0));

/** An unsigned integer, from its bytes in big-endian order. */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  return element(0x02, trimmed[0]! & 0x80 ? Buffer.concat([Buffer.of(0), trimmed]) : trimmed);
}

export const NULL = Buffer.of(0x05, 0x00);

export const octets = (bytes: Buffer) => element(0x04, bytes);

/** A bit string; `unused` is the number of unused bits at the end. */
export const bits = (bytes: Buffer, unused = 0) => element(0x03, Buffer.of(unused), bytes);

export const utf8 = (text: string) => element(0x0c, Buffer.from(text, 'utf8'));

/** An object identifier in dotted form, such as `2.5.29.17`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    bytes.push(...groups);
  }
  return element(0x06, Buffer.from(bytes));
}

/** Encodes a time. The year has two digits until 2049 and four from then on, as X.509 requires. */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  return digits < '2050' ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

/** The bytes of an address in a certificate: 4 or 16. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':')).flatMap(groupBytes);
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  return Buffer.from([...front, ...new Array<number>(16 - front.length - back.length).fill(0), ...back]);
}

function groupBytes(group: string): number[] {
  if (group.includes('.')) return group.split('.').map(Number);
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}

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
