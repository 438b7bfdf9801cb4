/** Renews the certificates of a running process before they expire, and when they were rotated. */
import type { Timer } from '../../base/time/clock.ts';
import type { Tools } from '../../base/tools.ts';
import { isSamePki, type Pki } from './pki.ts';

export interface RenewalOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly pki: Pki;
  readonly open: () => Promise<Pki>;
  /** Takes changed keys and certificates into use. */
  readonly apply: (pki: Pki) => Promise<void>;
}

const RETRY_MS = 60 * 60_000;

export interface Renewal {
  /** Checks at once, after something was rotated. */
  check(): Promise<void>;
  /** Resolves when a check that is under way has ended. */
  stop(): Promise<void>;
}

export function keepRenewed({ pki, open, apply, clock, log }: RenewalOptions): Renewal {
  let timer: Timer | undefined;
  let last: Promise<void> = Promise.resolve();
  let isStopped = false;
  let current = pki;

  const arm = (at: number) => {
    timer?.cancel();
    if (!isStopped) timer = clock.timer(at - clock.now(), () => void check());
  };
  const look = async () => {
    if (isStopped) return;
    try {
      const next = await open();
      if (!isSamePki(next, current)) {
        await apply(next);
        current = next;
        log.info('keys and certificates renewed', { created: next.created.join(', ') });
      }
      arm(next.renewAt);
    } catch (error) {
      log.error('keys and certificates could not be renewed', { error });
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
    async stop() {
      isStopped = true;
      timer?.cancel();
      await last;
    },
  };
}
