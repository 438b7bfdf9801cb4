/** Secrets are encrypted before they reach the store, with the keys of a file that only its owner may read. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { EncryptedStore } from '../../../store/encryption/encrypted-store.ts';
import { formatKeyring, type Keyring, newKey, parseKeyring } from '../../../store/encryption/keyring.ts';
import type { Store } from '../../../store/index.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import { readIfThere, writeWhole } from '../../process/files.ts';
import { ROTATED } from '../identity/renewing.ts';

export interface EncryptionFlags {
  readonly encryptionKeyFile?: string;
}

export function withEncryptionFlags(command: Command): Command {
  return command.option(
    '--encryption-key-file <file>',
    'keys that Secrets are encrypted with in the store (default: DIR/encryption.key, made at first start)',
  );
}

const SECRETS = '/registry/core/secrets/';

export const keyFileIn = (directory: string) => join(directory, 'encryption.key');

interface Encrypting {
  readonly file: string;
  readonly cleanup: Cleanup;
  readonly log: Logger;
  readonly random: Random;
}

interface Encryption {
  readonly store: Store;
  /** Writes anew what is not under the newest key, beside other work. */
  begin(): void;
}

/** The store with Secrets encrypted. */
export async function encrypting(inner: Store, { file, cleanup, log, random }: Encrypting): Promise<Encryption> {
  let keys = await openKeys(file, random);
  const encrypted = new EncryptedStore(inner, { keys, prefixes: [SECRETS], random });
  const stop = new AbortController();
  let work = Promise.resolve();
  const after = (task: () => Promise<unknown>) => {
    work = work.then(task).then(
      () => undefined,
      (error: unknown) => log.error('new keys were not taken into use', { error }),
    );
  };
  const onSignal = () =>
    after(async () => {
      const next = await readKeys(file);
      // A key that is gone from the file is needed until nothing is left of what it encrypted.
      keys = [...next, ...keys.filter(({ id }) => !next.some((key) => key.id === id))];
      encrypted.useKeys(keys);
      if (!(await anew(encrypted, log, stop.signal))) return;
      keys = next;
      encrypted.useKeys(keys);
    });
  process.on(ROTATED, onSignal);
  cleanup.add(async () => {
    process.off(ROTATED, onSignal);
    stop.abort();
    await work;
  });
  const begin = () => after(() => anew(encrypted, log, stop.signal));
  return { store: encrypted, begin };
}

/**
 * Failing, it leaves values under older keys, which are still known: the next start tries again. History is forgotten
 * with what was written anew, so that nothing is left that an older key, or none at all, would open.
 */
async function anew(store: EncryptedStore, log: Logger, signal: AbortSignal): Promise<boolean> {
  try {
    const count = await store.encryptAnew(signal);
    if (signal.aborted) return false;
    if (count === 0) return true;
    await store.compact(await store.revision());
    log.info('secrets were encrypted with the newest key', { count });
    return true;
  } catch (error) {
    if (!signal.aborted) log.error('secrets could not be encrypted with the newest key', { error });
    return false;
  }
}

async function openKeys(file: string, random: Random): Promise<Keyring> {
  if ((await readIfThere(file)) === undefined) await writeWhole(file, formatKeyring([newKey(random)]));
  return readKeys(file);
}

export async function readKeys(file: string): Promise<Keyring> {
  const text = await readIfThere(file);
  if (text === undefined) throw new CliError(`${file} does not exist: there are no keys to read secrets with`);
  const { mode } = await stat(file);
  if (mode & 0o077) throw new CliError(`${file} can be read by others than its owner; chmod 600 it`);
  const keys = parseKeyring(text);
  if (!keys) throw new CliError(`${file} is no key file; restore it from a copy, or secrets cannot be read`);
  return keys;
}
