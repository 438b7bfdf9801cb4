/** Keeps the certificates of a running program young: a timer for the first that nears its end, and a word from outside. */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Pki } from './pki.ts';

export interface RenewalOptions {
  readonly pki: Pki;
  readonly open: () => Promise<Pki>;
  /** Puts what is new to use. */
  readonly apply: (pki: Pki) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** After a failure, milliseconds. */
const AGAIN_AFTER = 60 * 60_000;

export interface Renewal {
  /** Looks at once: somebody has rotated something. */
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
      if (next.made.length > 0) {
        await apply(next);
        log.info('certificates renewed', { made: next.made.join(', ') });
      }
      arm(next.renewAt);
    } catch (error) {
      log.error('certificates could not be renewed', { error });
      arm(clock.now() + AGAIN_AFTER);
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
