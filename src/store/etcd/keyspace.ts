import { prefixEnd } from '../keys.ts';

/** Where compactor.ts keeps its turn. No caller's key: those begin with a slash. */
export const COMPACTION_KEY = 'quarterdeck/compaction';

/** How the store's keys stand in etcd: behind a prefix, which keeps several clusters on one etcd apart. */
export class Keyspace {
  readonly #prefix: string;
  readonly #prefixLength: number;
  readonly #compaction: Buffer;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#prefixLength = Buffer.byteLength(prefix);
    this.#compaction = Buffer.from(COMPACTION_KEY);
  }

  write(key: string): Buffer {
    return Buffer.from(this.#prefix + key);
  }

  read(key: Buffer): string {
    return key.toString('utf8', this.#prefixLength);
  }

  /** Keys with a prefix, behind a key. */
  range(prefix: string, after?: string): { key: Buffer; rangeEnd: Buffer } {
    const start = this.write(prefix);
    // The next key after a key is that key with a zero byte behind it.
    const behind = after === undefined ? start : Buffer.concat([this.write(after), ZERO]);
    const key = Buffer.compare(behind, start) > 0 ? behind : start;
    return { key: key.length > 0 ? key : ZERO, rangeEnd: prefixEnd(this.#prefix + prefix) ?? ZERO };
  }

  /** Whether a key that etcd told of is one of the caller's. */
  holds(key: Buffer): boolean {
    return !key.equals(this.#compaction);
  }
}

/** As a key, it is the least one, and nobody's; as the end of a range, it means that there is none. */
export const ZERO = Buffer.from([0]);
