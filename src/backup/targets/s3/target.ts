/** Backup files as objects of a bucket. */
import {
  type BackupTarget,
  type ByteRange,
  checkFileName,
  TargetError,
  type TargetFile,
  type TidyOptions,
} from '../../target.ts';
import { malformed, type Page, readFiles, readUploads } from './answers.ts';
import type { S3Client } from './client.ts';
import { download } from './download.ts';
import { upload } from './upload.ts';

/** The most that S3 returns at a time. */
const PAGE_ENTRIES = 1000;
/** Backups of ten years. */
const MAX_FILES = 100_000;
/** An upload that began longer ago has no writer. */
const ABANDONED_MS = 24 * 60 * 60_000;

export class S3Target implements BackupTarget {
  readonly name: string;

  constructor(
    private readonly client: S3Client,
    private readonly pageEntries = PAGE_ENTRIES,
  ) {
    const { bucket, prefix } = client.settings;
    this.name = `s3://${bucket}/${prefix}`.replace(/\/$/, '');
  }

  async list(signal?: AbortSignal): Promise<readonly TargetFile[]> {
    const query = { 'list-type': '2', 'max-keys': String(this.pageEntries), delimiter: '/' };
    const files = await this.#pages(query, readFiles, signal);
    // Servers sort by other rules, too.
    return files.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
    checkFileName(name);
    await upload(this.client, name, content, signal);
  }

  async *get(name: string, range?: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    checkFileName(name);
    yield* download(this.client, name, range, signal);
  }

  async remove(name: string, signal?: AbortSignal): Promise<void> {
    checkFileName(name);
    await this.client.call({ method: 'DELETE', name, accepts: ['NoSuchKey'], signal });
  }

  async tidy({ isAlone, signal }: TidyOptions = {}): Promise<void> {
    const limit = isAlone ? Number.POSITIVE_INFINITY : this.client.now - ABANDONED_MS;
    for (const { name, id, startedAt } of await this.#pages({ uploads: '' }, readUploads, signal)) {
      if (startedAt >= limit) continue;
      await this.client.call({ method: 'DELETE', name, query: { uploadId: id }, accepts: ['NoSuchUpload'], signal });
    }
  }

  async #pages<Entry>(
    query: Readonly<Record<string, string>>,
    read: (text: string, prefix: string) => Page<Entry>,
    signal: AbortSignal | undefined,
  ): Promise<Entry[]> {
    const { prefix } = this.client.settings;
    const found: Entry[] = [];
    const seen = new Set<string>();
    let next: Page<Entry>['next'] = {};
    while (next) {
      const { text } = await this.client.call({ method: 'GET', query: { ...query, prefix, ...next }, signal });
      const page = read(text, prefix);
      for (const entry of page.entries) found.push(entry);
      if (found.length > MAX_FILES || seen.size > MAX_FILES) {
        throw new TargetError(
          'Invalid',
          `${this.name} has more than ${MAX_FILES} files; choose an own prefix for backups`,
        );
      }
      const position = JSON.stringify(page.next);
      if (page.next && seen.has(position)) throw malformed('a list goes on where it was before');
      seen.add(position);
      next = page.next;
    }
    return found;
  }
}
