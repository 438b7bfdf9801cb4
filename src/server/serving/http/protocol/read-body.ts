import type { Readable } from 'node:stream';
import { badRequest } from '../../../../api/errors.ts';
import { Disconnected, tooLarge } from '../errors.ts';

interface ReadBodyOptions {
  readonly maxBytes: number;
  /**
   * The response: when it closes, the body is no longer needed, because the request is complete or the client has
   * disconnected.
   */
  readonly response?: { once(event: 'close', listener: () => void): unknown } | undefined;
}

/**
 * Reads a request's body into memory. `declared` is its Content-Length: a body that declares too many bytes is rejected
 * unread. Rejects with 413 or Disconnected, and discards further input.
 */
export function readBody(
  source: Readable,
  declared: string | undefined,
  { maxBytes, response }: ReadBodyOptions,
): Promise<Buffer> {
  if (declared !== undefined && Number(declared) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  if (source.destroyed) return Promise.reject(new Disconnected('the client disconnected before its request was read'));
  // Node ends an empty stream by itself, possibly before anything reads it.
  if (source.readableEnded) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let ended = false;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge(maxBytes));
      }
    });
    source.on('end', () => {
      ended = true;
      if (declared !== undefined && Number(declared) !== size) {
        reject(badRequest(`the body has ${size} bytes and not the ${declared} that were announced`));
      } else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    const onClose = () => {
      if (!ended) reject(new Disconnected('the client disconnected before its request was complete'));
    };
    source.on('close', onClose);
    response?.once('close', onClose);
    source.on('error', (cause) => reject(new Disconnected('the request was aborted', { cause })));
  });
}

/** Returns the largest size that a body with this Content-Length may have. */
export function maxSizeOf(declared: string | undefined, maxBytes: number): number {
  return declared === undefined ? maxBytes : Math.min(Number(declared) || 0, maxBytes);
}

/** Limit for discarded bodies, as a multiple of the size limit, so that slightly larger ones keep the connection. */
const DISCARD_FACTOR = 4;

/**
 * Reads and discards the rest of an unneeded body: closing the connection at once would reset it, and the client would
 * never see the response. A client that sends far too much is disconnected.
 */
export function discardBody(source: Readable & { readonly socket: { destroy(): unknown } }, maxBytes: number): void {
  let size = 0;
  source.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DISCARD_FACTOR * maxBytes) source.socket.destroy();
  });
  source.resume();
}
