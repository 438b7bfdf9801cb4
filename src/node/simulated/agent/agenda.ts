/**
 * What is to happen when, for all nodes and pods together: one heap, and one timer for the earliest of it. What falls due
 * at the same time is done in one go.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import { Heap } from '../../../base/heap.ts';

/** Something that is woken. It is in the agenda once at most. */
export interface Sleeper {
  /** When it is to be woken; undefined: it is not. Written by the agenda alone. */
  wakesAt: number | undefined;
  wake(now: number): void;
}

interface Entry {
  readonly at: number;
  readonly sleeper: Sleeper;
}

export class Agenda {
  readonly #clock: Clock;
  readonly #heap = new Heap<Entry>((a, b) => a.at < b.at);
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #isWorking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wakes it then, and not at any time that was said before; undefined: not at all. */
  set(sleeper: Sleeper, at: number | undefined): void {
    if (sleeper.wakesAt === at) return;
    sleeper.wakesAt = at;
    if (at === undefined) return;
    this.#heap.push({ at, sleeper });
    this.#arm();
  }

  /** Forgets everything. */
  close(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    this.#heap.clear();
  }

  #work(): void {
    this.#timer = undefined;
    this.#isWorking = true;
    const now = this.#clock.now();
    for (let first = this.#heap.peek(); first && first.at <= now; first = this.#heap.peek()) {
      this.#heap.pop();
      const { at, sleeper } = first;
      // Entries of those that were told another time meanwhile are left behind.
      if (sleeper.wakesAt !== at) continue;
      sleeper.wakesAt = undefined;
      sleeper.wake(now);
    }
    this.#isWorking = false;
    this.#arm();
  }

  #arm(): void {
    const at = this.#heap.peek()?.at;
    if (at === undefined || this.#isWorking || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.#clock.timer(at - this.#clock.now(), () => this.#work()) };
  }
}
