import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** Where chance comes from, so that a test can fix it. */
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

/** No vowels and no look-alikes, so that a generated name spells no word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** What is put behind `generateName`. */
export function nameSuffix(random: Random, length = 5): string {
  let out = '';
  for (let i = 0; i < length; i++) out += ALPHABET[random.int(ALPHABET.length)];
  return out;
}
