/** Digests: `sha256:` and 64 digits. The specification allows other algorithms, which are not used in practice. */
import { createHash, type Hash } from 'node:crypto';
import { RuntimeError } from '../../runtime/errors.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(text: unknown): text is string {
  return typeof text === 'string' && DIGEST.test(text);
}

export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The digits, which are the name of a blob's file. */
export function digitsOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

/** Computes the digest and the size of a stream. */
export class Digester {
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;

  update(part: Uint8Array): void {
    this.#hash.update(part);
    this.#bytes += part.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Ends it. */
  digest(): string {
    return `sha256:${this.#hash.digest('hex')}`;
  }
}

/** Throws when the digest of content is not the expected one. */
export function checkDigest(what: string, found: string, expected: string): void {
  if (found !== expected)
    throw new RuntimeError('Unknown', `${what} is damaged: its digest is ${found}, not ${expected}`);
}
