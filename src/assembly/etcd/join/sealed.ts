/** Seals a text for the holder of a token: AES-256-GCM with a key that HKDF derives from the token's secret and a salt. */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from '../../../base/random.ts';

const FORMAT = 1;
const CIPHER = 'aes-256-gcm';
const SALT_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Token {
  readonly id: string;
  readonly secret: string;
}

export interface Sealed {
  readonly format: number;
  /** In base64: the salt, the nonce, the tag, and the encrypted text. */
  readonly content: string;
}

export function seal(text: string, token: Token, random: Random): Sealed {
  const [salt, nonce] = [random.bytes(SALT_BYTES), random.bytes(NONCE_BYTES)];
  const cipher = createCipheriv(CIPHER, keyOf(token, salt), nonce, { authTagLength: TAG_BYTES });
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { format: FORMAT, content: Buffer.concat([salt, nonce, cipher.getAuthTag(), encrypted]).toString('base64') };
}

/** Returns undefined when it was sealed for another token, or changed on its way. */
export function unseal(sealed: unknown, token: Token): string | undefined {
  const { format, content } = (sealed ?? {}) as Partial<Sealed>;
  if (format !== FORMAT || typeof content !== 'string') return undefined;
  const bytes = Buffer.from(content, 'base64');
  const at = [SALT_BYTES, SALT_BYTES + NONCE_BYTES, SALT_BYTES + NONCE_BYTES + TAG_BYTES] as const;
  if (bytes.length < at[2]) return undefined;
  const key = keyOf(token, bytes.subarray(0, at[0]));
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(at[0], at[1]), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(at[1], at[2]));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(at[2])), decipher.final()]).toString('utf8');
  } catch {
    return undefined; // The tag does not match.
  }
}

/** The id is part of what the key derives from: a token cannot open what was sealed for another one. */
function keyOf({ id, secret }: Token, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, `quarterdeck server join ${FORMAT} ${id}`, 32));
}
