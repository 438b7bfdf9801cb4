/**
 * The format of an encrypted value: a mark that JSON cannot begin with, the id of the key, a seed, a nonce, the
 * ciphertext and its tag. AES-256-GCM must never use a nonce twice with one key; so each run of the program derives its
 * own keys from random seeds, and counts its nonces. The store key of the value is authenticated with it: a ciphertext
 * that was moved to another store key cannot be decrypted.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { Random } from '../../base/random.ts';
import { StoreDamaged } from '../store.ts';
import type { Key, Keyring } from './keyring.ts';

/** A value that cannot be decrypted with the keys in the key file. */
export class StoreSealed extends StoreDamaged {
  override readonly name = 'StoreSealed';
}

/** A value encrypted with a key that is not in the key file. It is not damaged: the right key file can decrypt it. */
export class KeyMissing extends StoreSealed {}

const MARK = Buffer.from('\0qd:aes-gcm:1\0', 'latin1');
const ID_BYTES = 8;
const SEED_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID = MARK.length;
const SEED = ID + ID_BYTES;
const NONCE = SEED + SEED_BYTES;
const BODY = NONCE + NONCE_BYTES;
const CIPHER = 'aes-256-gcm';

/** Limit for the values encrypted with one derived key; far below the range of the counter. */
const MAX_VALUES_PER_SEED = 2 ** 24;
/** Limit for cached derived keys: there is one for each run of the program that wrote values. */
const MAX_DERIVED_KEYS = 1000;

export function isSealed(value: Buffer): boolean {
  return value.length >= BODY + TAG_BYTES && value.compare(MARK, 0, MARK.length, 0, MARK.length) === 0;
}

/** Returns the id of the key that encrypted a value. */
export function keyIdOf(sealed: Buffer): string {
  return sealed.toString('latin1', ID, SEED);
}

/** Encrypts and decrypts with one set of keys. */
export class Envelopes {
  readonly #keys: ReadonlyMap<string, Key>;
  readonly #newest: Key;
  readonly #derived = new Map<string, Buffer>();
  #seed: Buffer;
  #count = 0;

  constructor(
    keyring: Keyring,
    private readonly random: Random,
  ) {
    this.#seed = random.bytes(SEED_BYTES);
    this.#newest = keyring[0];
    this.#keys = new Map(keyring.map((key) => [key.id, key]));
  }

  /** The id of the encrypting key. */
  get current(): string {
    return this.#newest.id;
  }

  seal(storeKey: string, value: Buffer): Buffer {
    if (++this.#count > MAX_VALUES_PER_SEED) {
      this.#seed = this.random.bytes(SEED_BYTES);
      this.#count = 1;
    }
    const sealed = Buffer.allocUnsafe(BODY + value.length + TAG_BYTES);
    MARK.copy(sealed);
    sealed.write(this.#newest.id, ID, 'latin1');
    this.#seed.copy(sealed, SEED);
    sealed.fill(0, NONCE, BODY);
    sealed.writeUInt32BE(this.#count, BODY - 4);
    const cipher = createCipheriv(CIPHER, this.#keyFor(this.#newest, this.#seed), sealed.subarray(NONCE, BODY));
    cipher.setAAD(Buffer.from(storeKey));
    cipher.update(value).copy(sealed, BODY);
    cipher.final();
    cipher.getAuthTag().copy(sealed, BODY + value.length);
    return sealed;
  }

  /** Decrypts a value. Throws StoreSealed. */
  open(storeKey: string, sealed: Buffer): Buffer {
    const id = keyIdOf(sealed);
    const key = this.#keys.get(id);
    if (!key) {
      const message = `${storeKey} is encrypted with the key ${id}, which is not in the key file`;
      throw new KeyMissing(message, { key: storeKey });
    }
    const end = sealed.length - TAG_BYTES;
    const derived = this.#keyFor(key, sealed.subarray(SEED, NONCE));
    const decipher = createDecipheriv(CIPHER, derived, sealed.subarray(NONCE, BODY));
    decipher.setAAD(Buffer.from(storeKey));
    decipher.setAuthTag(sealed.subarray(end));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(BODY, end)), decipher.final()]);
    } catch (cause) {
      throw new StoreSealed(`${storeKey} cannot be decrypted with the key ${id}: it was changed, or moved here`, {
        key: storeKey,
        cause,
      });
    }
  }

  #keyFor({ id, secret }: Key, seed: Buffer): Buffer {
    const cacheKey = `${id}${seed.toString('latin1')}`;
    return getOrInsert(this.#derived, cacheKey, () => {
      if (this.#derived.size >= MAX_DERIVED_KEYS) this.#derived.clear();
      return Buffer.from(hkdfSync('sha256', secret, seed, 'quarterdeck values', 32));
    });
  }
}
