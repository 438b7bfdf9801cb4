import type { Clock } from '../../../base/clock.ts';

/** Something that must be over in time. Belongs to one list at most. */
export abstract class Deadline {
  /** When it was set, and when it is due, in milliseconds since the epoch. */
  began = 0;
  at = 0;
  before: Deadline | undefined;
  after: Deadline | undefined;

  /** It was not. */
  abstract expire(): void;
}

/** Deadlines that are all equally far away, so that they come in the order in which they were set, and share one timer. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #delay: number;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #isArmed = false;

  constructor(clock: Clock, delay: number) {
    this.#clock = clock;
    this.#delay = delay;
  }

  set(deadline: Deadline): void {
    deadline.began = this.#clock.now();
    deadline.at = deadline.began + this.#delay;
    deadline.before = this.#last;
    if (this.#last) this.#last.after = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    if (!this.#isArmed) this.#arm(this.#delay);
  }

  /** Nothing happens where it was not set. */
  clear(deadline: Deadline): void {
    const { before, after } = deadline;
    if (before) before.after = after;
    else if (this.#first === deadline) this.#first = after;
    else return;
    if (after) after.before = before;
    else this.#last = before;
    deadline.before = undefined;
    deadline.after = undefined;
  }

  #arm(delay: number): void {
    this.#isArmed = true;
    this.#clock.timer(delay, () => {
      this.#isArmed = false;
      const now = this.#clock.now();
      while (this.#first && this.#first.at <= now) {
        const due = this.#first;
        this.clear(due);
        due.expire();
      }
      if (this.#first && !this.#isArmed) this.#arm(this.#first.at - now);
    });
  }
}
