import type { Call } from '../../../api/call.ts';
import { ApiError, badRequest } from '../../../api/errors.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Cache } from '../cache/cache.ts';

/** Timeout of a read for a version that the cache has not seen yet. */
const MAX_WAIT_MS = 3000;

/** Parses a resourceVersion parameter; undefined when there is none. */
export function parseRevision(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const revision = Number(text);
  if (!/^[0-9]+$/.test(text)) {
    throw badRequest(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  if (!Number.isSafeInteger(revision)) {
    throw badRequest(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`,
    );
  }
  return revision;
}

/** Waits until the cache is at least as new as `revision`. Rejects with a Timeout when that takes too long. */
export async function waitForRevision(
  { cache, clock }: { readonly cache: Cache; readonly clock: Clock },
  revision: number,
  call: Pick<Call, 'options' | 'signal'>,
): Promise<void> {
  const { signal } = call;
  const limit = Math.min(MAX_WAIT_MS, (call.options?.timeoutSeconds || Number.POSITIVE_INFINITY) * 1000);
  const waiter = cache.waiter(revision);
  if (!waiter) return;
  let settle = () => {};
  const late = new Promise<never>((_, reject) => {
    const timer = clock.timer(limit, () => reject(tooLarge(revision, cache.revision)));
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    settle = () => {
      timer.cancel();
      waiter.cancel();
      signal?.removeEventListener('abort', onAbort);
    };
  });
  await Promise.race([waiter.done, late]).finally(settle);
}

function tooLarge(asked: number, current: number): ApiError {
  return new ApiError('Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}
