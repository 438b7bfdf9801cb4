/**
 * The pending work of all nodes and pods: one heap, and one timer for its earliest task. Tasks that are due at the same time
 * run together.
 */

import { Heap } from '../../../base/collections/heap.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';

/** Work that runs at a time. A task is queued at most once. */
export interface TimerTask {
  /** When the task runs; undefined while it is not queued. Written by the queue alone. */
  dueAt: number | undefined;
  run(now: number): void;
}

/** How long tasks may run in one turn of the event loop. */
const MAX_RUN_MS = 10;
/** How many entries of tasks that were set again may be in the heap besides as many as there are tasks. */
const MAX_OLD_ENTRIES = 1000;

interface Entry {
  readonly at: number;
  readonly task: TimerTask;
}

export class TimerQueue {
  readonly #heap = new Heap<Entry>((a, b) => a.at < b.at);
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #isRunning = false;
  /** How many tasks are queued; the heap has more entries. */
  #queued = 0;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Sets when the task runs, in place of any earlier setting; undefined removes it. */
  set(task: TimerTask, at: number | undefined): void {
    // It would come before no other and after none: all would wait forever.
    if (Number.isNaN(at)) throw new RangeError('the time of a task is not a number');
    if (task.dueAt === at) return;
    if (task.dueAt !== undefined) this.#queued--;
    task.dueAt = at;
    if (at === undefined) return;
    this.#queued++;
    this.#heap.push({ at, task });
    // Tasks that are set again and again, to times far away, must not leave their old entries until then.
    if (this.#heap.size > 2 * this.#queued + MAX_OLD_ENTRIES)
      this.#heap.retain((entry) => entry.task.dueAt === entry.at);
    this.#arm();
  }

  /** The number of entries, including those of tasks that were set again. */
  get size(): number {
    return this.#heap.size;
  }

  /** Removes all tasks. */
  close(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    this.#heap.clear();
    this.#queued = 0;
  }

  #runDue(): void {
    this.#timer = undefined;
    this.#isRunning = true;
    const now = this.clock.now();
    const startedAt = this.clock.monotonic?.() ?? 0;
    for (let first = this.#heap.peek(); first && first.at <= now; first = this.#heap.peek()) {
      // The others follow in the next turn of the event loop.
      if ((this.clock.monotonic?.() ?? 0) - startedAt >= MAX_RUN_MS) break;
      this.#heap.pop();
      const { at, task } = first;
      // A task that was set again has left its old entries in the heap.
      if (task.dueAt !== at) continue;
      task.dueAt = undefined;
      this.#queued--;
      this.#run(task, now);
    }
    this.#isRunning = false;
    this.#arm();
  }

  /** An error in one task is no reason to stop the others. */
  #run(task: TimerTask, now: number): void {
    try {
      task.run(now);
    } catch (error) {
      this.log.error('a task of a simulated node failed', { error });
    }
  }

  #arm(): void {
    const at = this.#heap.peek()?.at;
    if (at === undefined || this.#isRunning || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.clock.timer(at - this.clock.now(), () => this.#runDue()) };
  }
}
