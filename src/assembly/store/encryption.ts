/** Encrypts Secrets before they reach the store, with keys from a file that only its owner may read. */

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileProblem } from '../../base/files/file-problem.ts';
import { readIfThere, writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Archive, RewritableArchive } from '../../store/archive/archive.ts';
import { EncryptedArchive } from '../../store/encryption/encrypted-archive.ts';
import { EncryptedStore } from '../../store/encryption/encrypted-store.ts';
import { isSealed, keyIdOf } from '../../store/encryption/envelope.ts';
import { formatKeyring, type Keyring, newKey, parseKeyring } from '../../store/encryption/keyring.ts';
import type { Store } from '../../store/index.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { Cleanup } from '../cleanup.ts';
import type { OnRotated } from '../context.ts';
import { SHARED_KEYS } from '../keys/shared-keys.ts';

/** Prefixes of encrypted values in the store: Secrets, and the keys that servers share. */
export const ENCRYPTED_PREFIXES = ['/registry/core/secrets/', SHARED_KEYS];

export const keyFileIn = (directory: string) => join(directory, 'encryption.key');

interface EncryptionOptions {
  readonly file: string;
  readonly cleanup: Cleanup;
  readonly log: Logger;
  readonly random: Random;
  readonly onRotated: OnRotated;
  /** The archive of the store, as it is on disk; undefined: there is none. */
  readonly archive: RewritableArchive | undefined;
}

interface Encryption {
  readonly store: Store;
  /** What the archive has, decrypted. */
  readonly archive: Archive | undefined;
  /** Re-encrypts, in the background, what is not encrypted with the newest key. */
  encryptStale(): void;
}

export function encryptedWith(store: Store, keys: Keyring, random: Random): EncryptedStore {
  return new EncryptedStore(store, { keys, prefixes: ENCRYPTED_PREFIXES, random });
}

/** Wraps a store so that Secrets in it are encrypted. New keys are used when their file was replaced. */
export async function encrypting(
  inner: Store,
  { file, cleanup, log, random, onRotated, archive: sealed }: EncryptionOptions,
): Promise<Encryption> {
  let keys = await openKeys(file, random, inner);
  const encrypted = encryptedWith(inner, keys, random);
  const archive = sealed && new EncryptedArchive(sealed, encrypted);
  const stop = new AbortController();
  let work = Promise.resolve();
  const after = (task: () => Promise<unknown>) => {
    work = work.then(task).then(
      () => undefined,
      (error: unknown) => log.error('new encryption keys could not be loaded', { error }),
    );
  };
  const reload = () =>
    after(async () => {
      const next = await readKeys(file);
      // A key that was removed from the file is needed until nothing is encrypted with it any more.
      keys = [...next, ...keys.filter(({ id }) => !next.some((key) => key.id === id))];
      encrypted.useKeys(keys);
      if (!(await reencrypt({ store: encrypted, archive, log }, stop.signal))) return;
      keys = next;
      encrypted.useKeys(keys);
    });
  const stopListening = onRotated(reload);
  cleanup.add(async () => {
    stopListening();
    stop.abort();
    await work;
  });
  const encryptStale = () => after(() => reencrypt({ store: encrypted, archive, log }, stop.signal));
  return { store: encrypted, archive, encryptStale };
}

interface Reencryption {
  readonly store: EncryptedStore;
  readonly archive: EncryptedArchive | undefined;
  readonly log: Logger;
}

/**
 * Returns whether everything is encrypted with the newest key now. When it fails, values stay under older keys, which are
 * still known, and the next start tries again. History is compacted, so that nothing remains that an older key, or no key
 * at all, could read.
 */
async function reencrypt({ store, archive, log }: Reencryption, signal: AbortSignal): Promise<boolean> {
  try {
    const count = await store.reencrypt(signal);
    if (signal.aborted) return false;
    if (count === 0) return true;
    await store.compact(await store.revision());
    await reencryptArchive(archive, log);
    log.info('secrets re-encrypted with the newest key', { count });
    return true;
  } catch (error) {
    if (!signal.aborted) log.error('secrets could not be re-encrypted with the newest key', { error });
    return false;
  }
}

/** Without this, keys can be forgotten when history has been deleted, by age or by `qd history purge`. */
async function reencryptArchive(archive: EncryptedArchive | undefined, log: Logger): Promise<void> {
  try {
    const count = await archive?.reencrypt();
    if (count) log.info('secrets in history re-encrypted with the newest key', { count });
  } catch (error) {
    log.error('secrets in history could not be re-encrypted with the newest key', { error });
  }
}

/** Creates the key file at the first start of a cluster. A server that joins others needs their file. */
async function openKeys(file: string, random: Random, store: Store): Promise<Keyring> {
  const shared = await store.get(SHARED_KEYS);
  const needed = shared && isSealed(shared.value) ? keyIdOf(shared.value) : undefined;
  const isMissing = (await readIfThere(file)) === undefined;
  if (isMissing && needed === undefined) {
    await rejectIfSealed(store);
    await makeDirectories(dirname(file), 0o700);
    await writeWhole(file, formatKeyring([newKey(random)]));
  }
  const keys = isMissing && needed !== undefined ? undefined : await readKeys(file);
  if (keys && (needed === undefined || keys.some(({ id }) => id === needed))) return keys;
  throw new AssemblyError(
    `the keys of the cluster in this store are encrypted with ${needed}, which is not in ${file}; ` +
      'copy encryption.key from another server of the cluster, or name it with --encryption-key-file',
  );
}

/** Throws when the store has Secrets that a new key could not decrypt. */
async function rejectIfSealed(store: Store): Promise<void> {
  for (const prefix of ENCRYPTED_PREFIXES) {
    const [row] = (await store.list(prefix, { limit: 1 })).rows;
    if (!row || !isSealed(row.value)) continue;
    throw new AssemblyError(`${row.key} is encrypted with the key ${keyIdOf(row.value)}, which is not in the key file`);
  }
}

export async function readKeys(file: string): Promise<Keyring> {
  const text = await readIfThere(file).catch((cause: unknown) => {
    throw new AssemblyError(`${file} cannot be read: ${fileProblem(cause)}`, { cause });
  });
  if (text === undefined) throw new AssemblyError(`${file} does not exist: Secrets cannot be decrypted without it`);
  const { mode } = await stat(file);
  if (mode & 0o077) throw new AssemblyError(`${file} is readable by other users; run chmod 600 on it`);
  const keys = parseKeyring(text);
  if (!keys)
    throw new AssemblyError(`${file} is not a key file; restore it from a backup, or Secrets cannot be decrypted`);
  return keys;
}
