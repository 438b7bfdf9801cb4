/**
 * Ends a pull that makes no progress. A registry that sends a byte now and then is never silent, so that an idle
 * timeout does not notice it: the limit is on the bytes that arrive within each window of time, over all connections of
 * the pull.
 */
import type { Clock, Timer } from '../../../base/time/clock.ts';
import { RuntimeError } from '../../runtime/errors.ts';

export const PROGRESS_WINDOW_MS = 5 * 60_000;
/** Minimum of about 1 KiB per second. */
export const MIN_WINDOW_BYTES = 256 * 1024;

export class PullProgress {
  readonly #stop = new AbortController();
  #timer: Timer;
  #windowBytes = 0;

  constructor(private readonly clock: Clock) {
    this.#timer = this.#nextWindow();
  }

  /** Aborted with a RuntimeError when the pull is too slow. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Counts bytes of the image that have arrived for the first time. */
  add(bytes: number): void {
    this.#windowBytes += bytes;
  }

  end(): void {
    this.#timer.cancel();
  }

  #nextWindow(): Timer {
    this.#windowBytes = 0;
    return this.clock.timer(PROGRESS_WINDOW_MS, () => {
      if (this.#windowBytes >= MIN_WINDOW_BYTES) this.#timer = this.#nextWindow();
      else this.#stop.abort(tooSlow(this.#windowBytes));
    });
  }
}

function tooSlow(bytes: number): RuntimeError {
  const minutes = PROGRESS_WINDOW_MS / 60_000;
  return new RuntimeError(
    'RegistryUnavailable',
    `the registry sent ${bytes} bytes of the image in ${minutes} minutes, and at least ${MIN_WINDOW_BYTES} are expected`,
  );
}
