/** Renews the certificates of a running process before they expire, and when it is told to check them. */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Pki } from './pki.ts';

export interface RenewalOptions {
  readonly pki: Pki;
  readonly open: () => Promise<Pki>;
  /** Takes new certificates into use. */
  readonly apply: (pki: Pki) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const RETRY_MS = 60 * 60_000;

export interface Renewal {
  /** Checks at once, after something was rotated. */
  check(): Promise<void>;
  stop(): void;
}

export function keepRenewed({ pki, open, apply, clock, log }: RenewalOptions): Renewal {
  let timer: Timer | undefined;
  let last: Promise<void> = Promise.resolve();
  let isStopped = false;

  const arm = (at: number) => {
    timer?.cancel();
    if (!isStopped) timer = clock.timer(at - clock.now(), () => void check());
  };
  const look = async () => {
    try {
      const next = await open();
      if (next.created.length > 0) {
        await apply(next);
        log.info('certificates renewed', { created: next.created.join(', ') });
      }
      arm(next.renewAt);
    } catch (error) {
      log.error('certificates could not be renewed', { error });
      arm(clock.now() + RETRY_MS);
    }
  };
  const check = () => {
    last = last.then(look);
    return last;
  };
  arm(pki.renewAt);
  return {
    check,
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
