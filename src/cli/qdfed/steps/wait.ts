/** Waits until something holds. */
import { isApiError } from '../../../api/errors.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { CliError } from '../../output/cli-error.ts';

/** Missing requirement, for people to read. */
export class Missing {
  constructor(readonly what: string) {}
}

const LOOK_EVERY_MS = 500;

interface UntilOptions {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Called with what is missing, each time that something is. */
  readonly say?: (missing: string) => void;
}

/** Asks until the answer is not Missing. Rejects with what is missing after `limitMs`. Until then, errors that pass are waited for. */
export async function until<T>({ clock, limitMs, say }: UntilOptions, look: () => Promise<T | Missing>): Promise<T> {
  const end = clock.now() + limitMs;
  for (;;) {
    const found = await look().catch((error: unknown) => {
      if (isApiError(error) && error.retryable) return new Missing(error.message);
      throw error;
    });
    if (!(found instanceof Missing)) return found;
    say?.(found.what);
    if (clock.now() >= end) {
      throw new CliError(`${found.what} (waited ${Math.round(limitMs / 1000)} s)`);
    }
    await sleep(clock, LOOK_EVERY_MS);
  }
}
