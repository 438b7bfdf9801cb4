import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** The source of randomness, so that a test can fix it. */
export interface Random {
  uuid(): string;
  /** A whole number from 0 up to, not including, `limit`. */
  int(limit: number): number;
  bytes(length: number): Buffer;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  int: (limit) => randomInt(limit),
  bytes: (length) => randomBytes(length),
};

/** No vowels and no similar characters, so that a suffix is never a word. */
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
