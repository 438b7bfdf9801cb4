/** Releases the volumes of pods that are neither in the API nor in the runtime, and were left behind by a crash. */

import type { Logger } from '../../base/log.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Volumes } from '../volumes/volumes.ts';

export interface LeftoversOptions {
  readonly volumes: Pick<Volumes, 'leftovers' | 'release'>;
  /** Reports whether the agent takes care of the pod. */
  readonly isFollowed: (uid: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A volume may have to wait for its driver, which is often a pod of the node itself. */
const RETRY_MS = 30_000;

/** Resolves when nothing is left, or after the signal. */
export async function releaseLeftovers(options: LeftoversOptions): Promise<void> {
  const { volumes, isFollowed, clock, log, signal } = options;
  while (!signal.aborted) {
    let isComplete = true;
    const failed = (error: unknown, uid?: string) => {
      isComplete = false;
      log.warn('cannot release volumes that were left behind', { pod: uid, error: String(error) });
    };
    const uids = await volumes.leftovers().catch((error: unknown) => {
      failed(error);
      return [];
    });
    for (const uid of uids) {
      if (signal.aborted) return;
      if (!isFollowed(uid)) await volumes.release(uid).catch((error: unknown) => failed(error, uid));
    }
    if (isComplete) return;
    await sleep(clock, RETRY_MS, signal).catch(() => undefined);
  }
}
