/** IP addresses and networks as Go's netip reads and writes them. */
import { isIP } from 'node:net';

/** 4 or 16 bytes; undefined where the text is no address. */
export function parseAddress(text: string): Uint8Array | undefined {
  switch (isIP(text)) {
    case 4:
      return Uint8Array.from(text.split('.').map(Number));
    case 6:
      return text.includes('%') ? undefined : parseIpv6(text);
    default:
      return undefined;
  }
}

function parseIpv6(text: string): Uint8Array {
  const last = text.lastIndexOf(':') + 1;
  const tail = text.slice(last);
  // The last 32 bits may be written as an IPv4 address.
  const groups = tail.includes('.') ? text.slice(0, last) + hexOf(tail) : text;
  const [head = '', rest] = groups.split('::');
  const words = (part: string) => (part ? part.split(':').map((word) => Number.parseInt(word, 16)) : []);
  const [left, right] = [words(head), rest === undefined ? [] : words(rest)];
  const all = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

function hexOf(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** Formats an address in the canonical form of RFC 5952. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!);
  let [start, length] = [-1, 1];
  for (let from = 0; from < 8; from++) {
    let to = from;
    while (to < 8 && words[to] === 0) to++;
    if (to - from > length) [start, length] = [from, to - from];
  }
  const hex = (part: readonly number[]) => part.map((word) => word.toString(16)).join(':');
  return start < 0 ? hex(words) : `${hex(words.slice(0, start))}::${hex(words.slice(start + length))}`;
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

export function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && MAPPED.every((byte, i) => bytes[i] === byte);
}

/** The address with all bits behind the prefix cleared. */
export function maskAddress(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, i) => {
    const kept = Math.min(8, Math.max(0, bits - 8 * i));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
