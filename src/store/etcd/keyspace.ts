import { prefixEnd } from '../keys.ts';

/** Prefix of what this store itself keeps in etcd. Callers' keys begin with a slash. */
const INTERNAL = 'quarterdeck/';

/** The key with which servers take turns to compact. */
export const COMPACTION_KEY = `${INTERNAL}compaction`;

/** Maps the store's keys to keys in etcd, with a prefix that separates several clusters on one etcd. */
export class Keyspace {
  readonly #prefixLength: number;
  readonly #internal = Buffer.from(INTERNAL);

  constructor(private readonly prefix: string) {
    this.#prefixLength = Buffer.byteLength(prefix);
  }

  write(key: string): Buffer {
    return Buffer.from(this.prefix + key);
  }

  read(key: Buffer): string {
    return key.toString('utf8', this.#prefixLength);
  }

  /** Returns the range of keys with a prefix, after a key. */
  range(prefix: string, after?: string): { key: Buffer; rangeEnd: Buffer } {
    const start = this.write(prefix);
    // The next possible key is that key with a zero byte appended.
    const next = after === undefined ? start : Buffer.concat([this.write(after), ZERO]);
    const key = Buffer.compare(next, start) > 0 ? next : start;
    return { key: key.length > 0 ? key : ZERO, rangeEnd: prefixEnd(this.prefix + prefix) ?? ZERO };
  }

  /** Reports whether a key in etcd is one of the callers' keys. */
  holds(key: Buffer): boolean {
    const { length } = this.#internal;
    const start = this.#prefixLength;
    // The first byte settles nearly all of them.
    return key[start] !== this.#internal[0] || !key.subarray(start, start + length).equals(this.#internal);
  }
}

/** The zero byte. As a key: the smallest one, which does not exist. As the end of a range: no end. */
export const ZERO = Buffer.from([0]);
