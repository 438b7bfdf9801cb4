/** Seals and opens files of age, for recipients or with a passphrase. */
import type { Decrypter, Encrypter } from 'age-encryption';
import type { Random } from '../../base/random.ts';
import { type Seal, SealError, type Unseal } from '../seal.ts';
import { readHeader } from './header.ts';
import { readIdentities, readPassphrase } from './key-files.ts';
import { chunksOf, toStream } from './streams.ts';

export interface SealSettings {
  /** File with a passphrase in its only line. Excludes recipients. */
  readonly passphraseFile?: string | undefined;
  /** Public keys, `age1…`. Each of them opens the file. */
  readonly recipients?: readonly string[] | undefined;
}

export interface UnsealSettings {
  readonly passphraseFile?: string | undefined;
  /** File of `age-keygen`. */
  readonly identityFile?: string | undefined;
}

/** Returns a seal, and problems that do not prevent its use. Undefined when the settings ask for none. */
export async function createSeal(
  { passphraseFile, recipients = [] }: SealSettings,
  random: Random,
): Promise<{ readonly seal: Seal; readonly warnings: readonly string[] } | undefined> {
  if (passphraseFile === undefined && recipients.length === 0) return undefined;
  if (passphraseFile !== undefined && recipients.length > 0) {
    throw new SealError('Key', 'a backup is encrypted with a passphrase or for recipients; remove one of them');
  }
  // Loaded on first use: most programs encrypt nothing.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if (passphraseFile === undefined) {
    for (const recipient of recipients) addRecipient(encrypter, recipient);
    return { seal: sealBy(encrypter), warnings: [] };
  }
  const { PassphraseRecipient } = await import('./passphrase.ts');
  const { content, warnings } = await readPassphrase(passphraseFile);
  encrypter.addRecipient(new PassphraseRecipient(content, random));
  return { seal: sealBy(encrypter), warnings };
}

function addRecipient(encrypter: Encrypter, recipient: string): void {
  if (recipient.startsWith('AGE-SECRET-KEY-')) {
    throw new SealError(
      'Key',
      'expected a recipient (age1…), found an identity; `age-keygen -y FILE` shows its recipient',
    );
  }
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    const found = JSON.stringify(recipient.slice(0, 100));
    throw new SealError('Key', `expected a recipient of age (age1…), found ${found}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function sealBy(encrypter: Encrypter): Seal {
  return {
    async *sealed(content) {
      yield* chunksOf(await encrypter.encrypt(toStream(content)));
    },
  };
}

/** Returns what opens sealed files, and problems that do not prevent its use. Undefined when the settings name no key. */
export async function createUnseal({
  passphraseFile,
  identityFile,
}: UnsealSettings): Promise<{ readonly unseal: Unseal; readonly warnings: readonly string[] } | undefined> {
  if (passphraseFile === undefined && identityFile === undefined) return undefined;
  const [{ Decrypter }, { PassphraseIdentity }] = await Promise.all([
    import('age-encryption'),
    import('./passphrase.ts'),
  ]);
  const decrypter = new Decrypter();
  const warnings: string[] = [];
  const files: string[] = [];
  if (passphraseFile !== undefined) {
    const passphrase = await readPassphrase(passphraseFile);
    decrypter.addIdentity(new PassphraseIdentity(passphrase.content));
    warnings.push(...passphrase.warnings);
    files.push(passphraseFile);
  }
  if (identityFile !== undefined) {
    const identities = await readIdentities(identityFile);
    for (const identity of identities.content) addIdentity(decrypter, identity, identityFile);
    warnings.push(...identities.warnings);
    files.push(identityFile);
  }
  return { unseal: new AgeUnseal(decrypter, files, { passphraseFile, identityFile }), warnings };
}

function addIdentity(decrypter: Decrypter, identity: string, file: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch {
    // The cause might show the secret.
    throw new SealError('Key', `expected identities of age (AGE-SECRET-KEY-1…) in ${file}; one of them is malformed`);
  }
}

class AgeUnseal implements Unseal {
  constructor(
    private readonly decrypter: Decrypter,
    private readonly files: readonly string[],
    private readonly settings: UnsealSettings,
  ) {}

  async *opened(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const source = new WatchedSource(file);
    const { kinds, content } = await readHeader(source);
    this.#checkKinds(kinds);
    try {
      yield* chunksOf(await this.decrypter.decrypt(toStream(content)));
    } catch (cause) {
      if (source.failure) throw source.failure.error;
      throw this.#explained(cause as Error, kinds);
    }
  }

  /** Names the kind of key that is missing, before any is tried. */
  #checkKinds(kinds: readonly string[]): void {
    const needsPassphrase = kinds.includes('scrypt');
    if (needsPassphrase && this.settings.passphraseFile === undefined) {
      throw new SealError(
        'Key',
        'the file is encrypted with a passphrase; name the file that holds it, not an identity',
      );
    }
    if (!needsPassphrase && this.settings.identityFile === undefined) {
      throw new SealError(
        'Key',
        'the file is encrypted for recipients; name the file with the identity of one, not a passphrase',
      );
    }
  }

  #explained(cause: Error, kinds: readonly string[]): SealError {
    if (cause instanceof SealError) return cause;
    if (/no identity matched/.test(cause.message)) {
      const what = kinds.includes('scrypt') ? 'the passphrase' : 'no identity';
      const verb = kinds.includes('scrypt') ? 'does not open' : 'opens';
      return new SealError('Key', `${what} in ${this.files.join(', ')} ${verb} the encrypted file`, { cause });
    }
    return new SealError('Damaged', `the encrypted file is damaged or incomplete: ${cause.message}`, { cause });
  }
}

/** Remembers that reading failed, which is not the fault of the file's content. */
class WatchedSource implements AsyncIterable<Uint8Array> {
  failure: { readonly error: unknown } | undefined;

  constructor(private readonly source: AsyncIterable<Uint8Array>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.source;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}
