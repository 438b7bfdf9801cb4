/** Reads the files that hold passphrases and identities. */
import { fileProblem } from '../../base/files/file-problem.ts';
import { open } from '../../base/files/own/own-files.ts';
import { SealError } from '../seal.ts';

export interface KeyFile<Content> {
  readonly content: Content;
  /** Problems that do not prevent its use. */
  readonly warnings: readonly string[];
}

const MAX_FILE_BYTES = 64 * 1024;
const MIN_PASSPHRASE_LENGTH = 12;
const OTHERS = 0o077;

/** Returns the passphrase of a file, which is its only line. */
export async function readPassphrase(file: string): Promise<KeyFile<string>> {
  const { content, warnings } = await readSecret(file);
  const passphrase = content.replace(/\r?\n$/, '');
  if (passphrase.trim() === '') throw unusable(file, 'a passphrase', 'it is empty', 'openssl rand -base64 32');
  if (/[\r\n]/.test(passphrase)) {
    throw unusable(file, 'one line with a passphrase', 'it has several lines', 'openssl rand -base64 32');
  }
  if (passphrase.length >= MIN_PASSPHRASE_LENGTH) return { content: passphrase, warnings };
  const short = `the passphrase in ${file} has ${passphrase.length} characters: whoever has a backup can try all of that length`;
  return { content: passphrase, warnings: [...warnings, short] };
}

/** Returns the identities of a file of `age-keygen`: one in a line, beside comments. */
export async function readIdentities(file: string): Promise<KeyFile<readonly string[]>> {
  const { content, warnings } = await readSecret(file);
  if (/^(?:age-encryption\.org\/|-----BEGIN AGE)/.test(content)) {
    throw unusable(file, 'identities (AGE-SECRET-KEY-1…)', 'it is encrypted', `age --decrypt ${file}`);
  }
  const lines = content.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  // A message must not show a line, which may be a secret.
  const wrong = identities.findIndex((line) => !line.startsWith('AGE-SECRET-KEY-'));
  if (identities.length === 0 || wrong >= 0) {
    const found = wrong < 0 ? 'it has none' : `line ${lines.indexOf(identities[wrong]!) + 1} is something else`;
    throw unusable(file, 'identities (AGE-SECRET-KEY-1…)', found, 'age-keygen');
  }
  return { content: identities, warnings };
}

async function readSecret(file: string): Promise<KeyFile<string>> {
  try {
    const handle = await open(file, 'r');
    try {
      const { mode } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_FILE_BYTES + 1), 0, MAX_FILE_BYTES + 1, 0);
      if (bytesRead > MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
      const open = `${file} can be read by other users of the machine (mode ${(mode & 0o777).toString(8)}): run chmod 600 on it`;
      return { content: buffer.toString('utf8', 0, bytesRead), warnings: (mode & OTHERS) === 0 ? [] : [open] };
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new SealError('Key', `${file} cannot be read: ${fileProblem(cause)}`, { cause });
  }
}

function unusable(file: string, expected: string, found: string, command: string): SealError {
  return new SealError('Key', `expected ${expected} in ${file}; ${found}. One can be made with: ${command}`);
}
