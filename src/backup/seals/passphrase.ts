/**
 * Passphrases as recipients and identities of age (`-> scrypt SALT LOG_N`). The key is derived in a thread of node:crypto: the package
 * derives it in the thread that calls it, for seconds.
 */
import { createCipheriv, createDecipheriv, scrypt } from 'node:crypto';
import { type Identity, type Recipient, Stanza } from 'age-encryption';
import type { Random } from '../../base/random.ts';
import { SealError } from '../seal.ts';

const LABEL = 'age-encryption.org/v1/scrypt';
/** 128 MiB and a quarter of a second of one core. `age` takes 18. */
const WORK_FACTOR = 17;
/** A file can ask for 1 GiB at most. */
const MAX_WORK_FACTOR = 20;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const BLOCK_SIZE = 8;
const TAG_BYTES = 16;
const CIPHER = 'chacha20-poly1305';
/** Each key encrypts one file key. */
const NONCE = Buffer.alloc(12);

export class PassphraseRecipient implements Recipient {
  constructor(
    private readonly passphrase: string,
    private readonly random: Random,
  ) {}

  async wrapFileKey(fileKey: Uint8Array): Promise<Stanza[]> {
    const salt = this.random.bytes(SALT_BYTES);
    const key = await derivedKey(this.passphrase, salt, WORK_FACTOR);
    const cipher = createCipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
    const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
    return [new Stanza(['scrypt', unpadded(salt), String(WORK_FACTOR)], body)];
  }
}

export class PassphraseIdentity implements Identity {
  constructor(private readonly passphrase: string) {}

  /** Returns null for the wrong passphrase, and for files without one. */
  async unwrapFileKey(stanzas: Stanza[]): Promise<Uint8Array | null> {
    const stanza = stanzas.find(({ args }) => args[0] === 'scrypt');
    if (!stanza) return null;
    const { args, body } = stanza;
    const salt = Buffer.from(args[1] ?? '', 'base64');
    const isWellFormed =
      stanzas.length === 1 && args.length === 3 && unpadded(salt) === args[1] && /^[1-9][0-9]?$/.test(args[2]!);
    if (!isWellFormed || salt.length !== SALT_BYTES || body.length !== 2 * TAG_BYTES) {
      throw new SealError('Damaged', 'the header of the encrypted file has a malformed entry for a passphrase');
    }
    const workFactor = Number(args[2]);
    if (workFactor > MAX_WORK_FACTOR) {
      throw new SealError(
        'Damaged',
        `the encrypted file asks for a work factor of ${workFactor} for its passphrase; the most that is accepted is ${MAX_WORK_FACTOR}`,
      );
    }
    return openedKey(body, await derivedKey(this.passphrase, salt, workFactor));
  }
}

function openedKey(body: Uint8Array, key: Buffer): Uint8Array | null {
  const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(body.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return null;
  }
}

function derivedKey(passphrase: string, salt: Buffer, workFactor: number): Promise<Buffer> {
  const N = 2 ** workFactor;
  // Some more than the 128 bytes for each block that the algorithm needs.
  const options = { N, r: BLOCK_SIZE, p: 1, maxmem: 128 * BLOCK_SIZE * (N + 1024) };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, Buffer.concat([Buffer.from(LABEL), salt]), KEY_BYTES, options, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
