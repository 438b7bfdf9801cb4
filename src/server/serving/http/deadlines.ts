import type { Clock, Timer } from '../../../base/time/clock.ts';

/** A deadline. Belongs to one list at most. */
export abstract class Deadline {
  /** Start and expiry, in milliseconds since the epoch. */
  began = 0;
  due = 0;
  previous: Deadline | undefined;
  next: Deadline | undefined;
  /** Set if it expires before others that were started at the same time. */
  timer: Timer | undefined;

  /** Called when the time is up. */
  abstract expire(): void;
}

/** Deadlines with the same delay: they expire in the order in which they were set, and share one timer. */
export class Deadlines {
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #isTimerSet = false;

  constructor(
    private readonly clock: Clock,
    private readonly delayMs: number,
  ) {}

  set(deadline: Deadline): void {
    deadline.began = this.clock.now();
    deadline.due = deadline.began + this.delayMs;
    deadline.previous = this.#last;
    if (this.#last) this.#last.next = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    if (!this.#isTimerSet) this.#setTimer(this.delayMs);
  }

  shorten(deadline: Deadline, delayMs: number): void {
    if (delayMs >= this.delayMs) return;
    deadline.timer?.cancel();
    deadline.timer = this.clock.timer(delayMs, () => {
      this.clear(deadline);
      deadline.expire();
    });
  }

  /** Does nothing if the deadline is not set. */
  clear(deadline: Deadline): void {
    deadline.timer?.cancel();
    deadline.timer = undefined;
    const { previous, next } = deadline;
    if (previous) previous.next = next;
    else if (this.#first === deadline) this.#first = next;
    else return;
    if (next) next.previous = previous;
    else this.#last = previous;
    deadline.previous = undefined;
    deadline.next = undefined;
  }

  #setTimer(delayMs: number): void {
    this.#isTimerSet = true;
    this.clock.timer(delayMs, () => {
      this.#isTimerSet = false;
      const now = this.clock.now();
      while (this.#first && this.#first.due <= now) {
        const expired = this.#first;
        this.clear(expired);
        expired.expire();
      }
      if (this.#first && !this.#isTimerSet) this.#setTimer(this.#first.due - now);
    });
  }
}
