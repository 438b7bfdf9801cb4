import type { Write } from './store.ts';

/**
 * Compares keys by their UTF-8 bytes. JavaScript compares UTF-16 units, which differs only where a surrogate pair
 * (U+10000 and above) meets U+E000..U+FFFF.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Returns the first key, as bytes, after all keys that start with the prefix; undefined when there is none. */
export function prefixEnd(prefix: string): Buffer | undefined {
  const end = Buffer.from(prefix);
  for (let last = end.length - 1; last >= 0; last--) {
    const byte = end.readUInt8(last);
    if (byte < 0xff) {
      end[last] = byte + 1;
      return end.subarray(0, last + 1);
    }
  }
  return undefined;
}

/** Throws a RangeError for writes that no implementation accepts. */
export function checkWrites(writes: readonly Write[], maxKeyBytes: number): void {
  for (const { key } of writes) checkKey(key, maxKeyBytes);
  if (writes.length < 2) return;
  const seen = new Set<string>();
  for (const { key } of writes) {
    if (seen.has(key)) throw new RangeError(`the commit writes the key ${key} twice`);
    seen.add(key);
  }
}

function checkKey(key: string, maxBytes: number): void {
  if (key === '') throw new RangeError('a key must not be empty');
  // A UTF-16 unit is at most three bytes of UTF-8, so most keys need not be counted.
  if (key.length * 3 <= maxBytes) return;
  const bytes = Buffer.byteLength(key);
  if (bytes > maxBytes) throw new RangeError(`the key ${key} has ${bytes} bytes, more than the maximum of ${maxBytes}`);
}
