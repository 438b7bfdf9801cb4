/** Directory for content that is being taken in. Content that is not committed is removed with it. */
import { join } from 'node:path';
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { PRIVATE_DIRECTORY } from '../../../base/files/own/modes.ts';
import { makeDirectory, mkdtemp, open, readFile, rename } from '../../../base/files/own/own-files.ts';
import { processIdentity } from '../../../base/programs/process-identity.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { checkDigest, Digester, digitsOf } from '../content/digest.ts';
import { MAX_DOCUMENT_BYTES } from '../content/documents.ts';
import { listIfThere } from './files.ts';
import type { StoreLayout } from './layout.ts';

export interface IngestedBlob {
  readonly digest: string;
  readonly size: number;
}

export class Ingest {
  readonly blobs = new Map<string, IngestedBlob>();
  #drafts = 0;

  private constructor(readonly directory: string) {}

  /** Runs `work` with an ingest, and removes the rest of it. */
  static async run<T>(layout: StoreLayout, work: (ingest: Ingest) => Promise<T>): Promise<T> {
    const { pid, started } = await processIdentity(process.pid);
    await makeDirectory(layout.ingest(), PRIVATE_DIRECTORY);
    const directory = await mkdtemp(join(layout.ingest(), `${pid}-${started}-`));
    try {
      return await work(new Ingest(directory));
    } finally {
      await removeTree(directory);
    }
  }

  /** Removes leftovers of processes that have ended. */
  static async removeLeftovers(layout: StoreLayout): Promise<void> {
    for (const name of await listIfThere(layout.ingest())) {
      const [pid = '', started = ''] = name.split('-');
      if ((await processIdentity(Number(pid))).started !== started) {
        await removeTree(join(layout.ingest(), name));
      }
    }
  }

  path(digest: string): string {
    return join(this.directory, digitsOf(digest));
  }

  /** Returns a path for another file or directory. */
  draft(): string {
    return join(this.directory, `draft-${++this.#drafts}`);
  }

  /** Takes in a blob, and checks that it is the expected one. */
  async add(content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, expected?: IngestedBlob): Promise<IngestedBlob> {
    const draft = this.draft();
    const digester = new Digester();
    const handle = await open(draft, 'wx', 0o600);
    try {
      for await (const part of content) {
        digester.update(part);
        if (expected && digester.bytes > expected.size) throw wrongSize(expected, digester.bytes);
        await handle.appendFile(part);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    const blob = { digest: digester.digest(), size: digester.bytes };
    if (expected) {
      if (blob.size !== expected.size) throw wrongSize(expected, blob.size);
      checkDigest('a blob', blob.digest, expected.digest);
    }
    await this.adopt(draft, blob);
    return blob;
  }

  /** Takes in a file that was written and checked here. */
  async adopt(file: string, blob: IngestedBlob): Promise<void> {
    await rename(file, this.path(blob.digest));
    this.blobs.set(blob.digest, blob);
  }

  /** Reads a document that was taken in. */
  async document(what: string, digest: string): Promise<Buffer> {
    const blob = this.blobs.get(digest);
    if (!blob) throw new RuntimeError('Unknown', `${what} is missing`);
    if (blob.size > MAX_DOCUMENT_BYTES) throw new RuntimeError('Unknown', `${what} is too large`);
    return readFile(this.path(digest));
  }
}

function wrongSize({ digest, size }: IngestedBlob, found: number): RuntimeError {
  return new RuntimeError('Unknown', `blob ${digest} is damaged: it has ${found} bytes or more, not ${size}`);
}
