/** Finds the backup that a user means, and opens it. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Unseal } from '../../../backup/seal.ts';
import type { BackupTarget } from '../../../backup/target.ts';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { CliError } from '../../output/cli-error.ts';
import { explained } from '../../up/store/backups/targets.ts';

export interface BackupSource {
  /** As in messages. */
  readonly name: string;
  /** Its bytes, from the beginning. */
  open(): AsyncIterable<Uint8Array>;
}

export const inTarget = (target: BackupTarget, name: string): BackupSource => ({ name, open: () => target.get(name) });

export const inFile = (path: string): BackupSource => ({ name: path, open: () => createReadStream(path) });

/** Reports whether a path leads to a file; undefined: nothing is there. */
export async function isFile(path: string): Promise<boolean | undefined> {
  return (await stat(path).catch(ifMissing))?.isFile();
}

/** The beginning of every file that age has encrypted. */
const SEALED = Buffer.from('age-encryption.org/');

/** The content of a backup, decrypted when it is encrypted. */
export async function* contentOf({ name, open }: BackupSource, unseal: Unseal | undefined): AsyncGenerator<Uint8Array> {
  const { start, all, close } = await peeked(open(), SEALED.length);
  try {
    if (!start.equals(SEALED)) yield* all;
    else if (unseal) yield* unseal.opened(all);
    else throw new CliError(`${name} is encrypted: name its key with --passphrase-file or --identity`);
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

interface Peeked {
  readonly start: Buffer;
  readonly all: AsyncIterable<Uint8Array>;
  /** Ends the stream, also if nothing was read of `all`: a download would keep its connection. */
  close(): Promise<unknown>;
}

/** Returns the first bytes of a stream, and the whole stream. */
async function peeked(content: AsyncIterable<Uint8Array>, bytes: number): Promise<Peeked> {
  const rest = content[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.length < bytes) {
    const { done, value } = await rest.next().catch((error: unknown) => {
      throw explained(error);
    });
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  async function* all() {
    yield start;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  }
  return { start: start.subarray(0, bytes), all: all(), close: async () => rest.return?.() };
}
