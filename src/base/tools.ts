import type { Logger } from './log.ts';
import type { Random } from './random.ts';
import type { Clock } from './time/clock.ts';

/** Time, randomness and the log, which the caller passes in. */
export interface Tools {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
