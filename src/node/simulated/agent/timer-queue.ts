/**
 * The pending work of all nodes and pods: one heap, and one timer for its earliest task. Tasks that are due at the same time
 * run together.
 */
import type { Clock, Timer } from '../../../base/clock.ts';
import { Heap } from '../../../base/heap.ts';

/** Work that runs at a time. A task is queued at most once. */
export interface TimerTask {
  /** When the task runs; undefined while it is not queued. Written by the queue alone. */
  dueAt: number | undefined;
  run(now: number): void;
}

interface Entry {
  readonly at: number;
  readonly task: TimerTask;
}

export class TimerQueue {
  readonly #clock: Clock;
  readonly #heap = new Heap<Entry>((a, b) => a.at < b.at);
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #isRunning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets when the task runs, in place of any earlier setting; undefined removes it. */
  set(task: TimerTask, at: number | undefined): void {
    if (task.dueAt === at) return;
    task.dueAt = at;
    if (at === undefined) return;
    this.#heap.push({ at, task });
    this.#arm();
  }

  /** Removes all tasks. */
  close(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    this.#heap.clear();
  }

  #runDue(): void {
    this.#timer = undefined;
    this.#isRunning = true;
    const now = this.#clock.now();
    for (let first = this.#heap.peek(); first && first.at <= now; first = this.#heap.peek()) {
      this.#heap.pop();
      const { at, task } = first;
      // A task that was set again has left its old entries in the heap.
      if (task.dueAt !== at) continue;
      task.dueAt = undefined;
      task.run(now);
    }
    this.#isRunning = false;
    this.#arm();
  }

  #arm(): void {
    const at = this.#heap.peek()?.at;
    if (at === undefined || this.#isRunning || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.#clock.timer(at - this.#clock.now(), () => this.#runDue()) };
  }
}
