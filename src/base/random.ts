import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** The source of randomness, so that a test can fix it. */
export interface Random {
  uuid(): string;
  /** Returns a whole number from 0 up to, not including, `limit`. */
  int(limit: number): number;
  bytes(length: number): Buffer;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  int: (limit) => randomInt(limit),
  bytes: (length) => randomBytes(length),
};

/** Randomness determined by a seed: the same seed gives the same values in the same order. Not for secrets. */
export class SeededRandom implements Random {
  /** The state of the generator: a counter of 32 bits, which is hashed to give a number. */
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The current state: as the seed of a new generator, it continues the sequence. */
  get state(): number {
    return this.#state;
  }

  int(limit: number): number {
    // 53 bits, as many as a number holds exactly.
    const value = (this.#next() >>> 5) * 2 ** 26 + (this.#next() >>> 6);
    return Math.floor((value / 2 ** 53) * limit);
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let i = 0; i < length; i++) bytes[i] = this.#next() >>> 24;
    return bytes;
  }

  /** Bound to the generator: callers pass it on as a function. */
  readonly uuid = (): string => {
    const bytes = this.bytes(16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };

  /** A number of 32 bits (the generator "mulberry32"). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return (value ^ (value >>> 14)) >>> 0;
  }
}

/** The alphabet has no vowels and no similar characters, so a suffix is never a word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The suffix for `generateName`. One random number is drawn for all characters, because drawing is slow. */
export function nameSuffix(random: Random): string {
  const count = ALPHABET.length;
  let drawn = random.int(count ** 5);
  let out = '';
  for (let i = 0; i < 5; i++) {
    out += ALPHABET[drawn % count];
    drawn = Math.floor(drawn / count);
  }
  return out;
}
