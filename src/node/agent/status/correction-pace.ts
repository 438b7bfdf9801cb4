/**
 * Limits how often the same status of a pod is written again, because another client keeps changing it or the server stores
 * something else than it was sent: the first time at once, and every ten seconds in the end.
 */

import { deepEqual } from '../../../base/json/tree.ts';
import type { PodStatus } from '../../pod/status-patch.ts';

const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
/** Time without a correction after which the next one is again written at once. */
const RESET_MS = 30_000;

export class CorrectionPace {
  #written: PodStatus | undefined;
  #delayMs = 0;
  #nextAt = 0;

  /** Returns the time to wait before the status is written; 0 for one that is new. */
  waitMs(status: PodStatus, now: number): number {
    return this.#isCorrection(status) ? Math.max(0, this.#nextAt - now) : 0;
  }

  wrote(status: PodStatus, now: number): void {
    if (this.#isCorrection(status)) {
      const isFirst = this.#delayMs === 0 || now - this.#nextAt >= RESET_MS;
      this.#delayMs = isFirst ? MIN_DELAY_MS : Math.min(2 * this.#delayMs, MAX_DELAY_MS);
      this.#nextAt = now + this.#delayMs;
    }
    this.#written = status;
  }

  #isCorrection(status: PodStatus): boolean {
    return this.#written !== undefined && deepEqual(withoutTimes(status), withoutTimes(this.#written));
  }
}

/** A corrected condition has another transition time. */
function withoutTimes({ conditions, ...rest }: PodStatus) {
  return { ...rest, conditions: conditions.map(({ lastTransitionTime: _, ...condition }) => condition) };
}
