import type { Readable } from 'node:stream';
import { badRequest } from '../../../base/errors.ts';
import { Disconnected, tooLarge } from '../errors.ts';

interface ReadOptions {
  /** Bytes. */
  readonly limit: number;
  /** Once this is closed, nobody wants the body any more: the client was answered before it came, or has left. */
  readonly reply?: { once(event: 'close', listener: () => void): unknown } | undefined;
}

/**
 * Collects a request's body. `declared` is its Content-Length: a body that says it is too large is refused unread. Rejects
 * with 413, or with Disconnected; what still comes after that is discarded.
 */
export function readBody(
  source: Readable,
  declared: string | undefined,
  { limit, reply }: ReadOptions,
): Promise<Buffer> {
  if (declared !== undefined && Number(declared) > limit) return Promise.reject(tooLarge(limit));
  if (source.destroyed) return Promise.reject(new Disconnected('the client left before its request was read'));
  // Node ends a stream without content by itself, perhaps before anybody came to read it.
  if (source.readableEnded) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let ended = false;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge(limit));
      }
    });
    source.on('end', () => {
      ended = true;
      if (declared !== undefined && Number(declared) !== size) {
        reject(badRequest(`the body has ${size} bytes and not the ${declared} that were announced`));
      } else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    const left = () => {
      if (!ended) reject(new Disconnected('the client left before its request was complete'));
    };
    source.on('close', left);
    reply?.once('close', left);
    source.on('error', (cause) => reject(new Disconnected('the request broke off', { cause })));
  });
}

/** Bytes that a body may come to have. */
export function sizeOf(declared: string | undefined, limit: number): number {
  return declared === undefined ? limit : Math.min(Number(declared) || 0, limit);
}

/** How much more than the limit is read away: clients who send a little too much keep their connection. */
const PATIENCE = 4;

/**
 * Reads away what a client still sends of a body that nobody wants: a connection that is closed at once would be reset
 * under it, and the answer lost. Who goes on and on is closed.
 */
export function discardBody(source: Readable & { readonly socket: { destroy(): unknown } }, limit: number): void {
  let size = 0;
  source.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > PATIENCE * limit) source.socket.destroy();
  });
}
