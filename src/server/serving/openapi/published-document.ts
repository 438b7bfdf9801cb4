/** A document for many clients: encoded once, with an ETag for caching. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { joinSharable } from '../../../base/bytes/shared-buffer.ts';

export interface PublishedDocument {
  /** The body, in shared memory if large: else every client that does not read its response would hold a copy. */
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
  /** Returns the body at the lowest gzip level. It is compressed only once. */
  gzip(): Promise<Buffer>;
}

const compress = promisify(gzip);

export function publishedDocument(content: Uint8Array, contentType: string): PublishedDocument {
  const body = joinSharable([content]);
  let compressed: Promise<Buffer> | undefined;
  return {
    body,
    contentType,
    etag: createHash('sha256').update(body).digest('hex').toUpperCase(),
    gzip() {
      compressed ??= compress(body, { level: 1 }).then((bytes) => joinSharable([bytes]));
      return compressed;
    },
  };
}
