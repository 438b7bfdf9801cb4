import type { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { badRequest } from '../../base/errors.ts';
import { Disconnected, HttpError, tooLarge } from './errors.ts';
import type { Limits } from './limits.ts';

export interface BodyOptions {
  readonly limits: Limits;
  readonly clock: Clock;
}

/**
 * Collects a request's body. `declared` is its Content-Length: a body that says it is too large is refused unread. Rejects
 * with 413, 408, or Disconnected; what is still to come is then the caller's to discard.
 */
export function readBody(source: Readable, declared: string | undefined, options: BodyOptions): Promise<Buffer> {
  const { limits, clock } = options;
  if (declared !== undefined && Number(declared) > limits.body) return Promise.reject(tooLarge(limits.body));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error?: Error) => {
      timer.cancel();
      source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError);
      if (error) reject(error);
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.body) settle(tooLarge(limits.body));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      if (declared !== undefined && Number(declared) !== size) {
        settle(badRequest(`the body has ${size} bytes and not the ${declared} that were announced`));
      } else settle();
    };
    const onClose = () => settle(new Disconnected('the client left before its request was complete'));
    const onError = (cause: Error) => settle(new Disconnected('the request broke off', { cause }));
    const timer = clock.timer(limits.bodyTimeout, () =>
      settle(new HttpError(408, 'the body of the request did not arrive in time')),
    );
    source.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}
