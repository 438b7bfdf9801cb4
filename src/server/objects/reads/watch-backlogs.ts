/** Limits the total backlog of all watches. */

import type { WatchEvent } from '../../../api/reply.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';

/** Limit for distinct events waiting for clients: events shared by several watches count once. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** Bytes that a watch sends before its client has read them. */
const WINDOW_BYTES = 512 * 1024;
/** Window while all watches together have more than `MAX_IN_FLIGHT_BYTES` in flight. */
const SMALL_WINDOW_BYTES = 16 * 1024;
const MAX_IN_FLIGHT_BYTES = 64 * 1024 * 1024;
/** Time without reads after which a watch with a backlog is ended. */
const MAX_STALL_MS = 60_000;
const CHECK_INTERVAL_MS = 10_000;
const WARNING_INTERVAL_MS = 60_000;

interface SlowWatch {
  progressedAt: number;
  giveUp(): void;
}

export interface WatchBacklogsOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

export class WatchBacklogs {
  /** Bytes sent to clients and not read yet, of all watches together. */
  inFlight = 0;
  /** Number of watches that wait to send each event. */
  readonly #holders = new Map<WatchEvent, number>();
  #bytes = 0;
  /** Slow watches; the ones behind longest come first. */
  readonly #slow = new Set<SlowWatch>();
  #timer: Timer | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: WatchBacklogsOptions) {}

  get window(): number {
    return this.inFlight > MAX_IN_FLIGHT_BYTES ? SMALL_WINDOW_BYTES : WINDOW_BYTES;
  }

  /** Size of the distinct events in the backlog. */
  get waitingBytes(): number {
    return this.#bytes;
  }

  /** Adds an event to the backlog of a watch. Returns its size. */
  hold(event: WatchEvent, bytes: number): number {
    const holders = this.#holders.get(event) ?? 0;
    this.#holders.set(event, holders + 1);
    if (holders === 0) this.#bytes += bytes;
    return bytes;
  }

  release(event: WatchEvent, bytes: number): void {
    const holders = this.#holders.get(event) ?? 0;
    if (holders > 1) this.#holders.set(event, holders - 1);
    else if (this.#holders.delete(event)) this.#bytes -= bytes;
  }

  /** Called when a watch has fallen behind. */
  add(watch: SlowWatch): void {
    watch.progressedAt = this.options.clock.now();
    this.#slow.add(watch);
    this.#timer ??= this.options.clock.timer(CHECK_INTERVAL_MS, () => this.#endStalled());
  }

  progressed(watch: SlowWatch): void {
    watch.progressedAt = this.options.clock.now();
  }

  /** Called when a watch has caught up, or has ended. */
  delete(watch: SlowWatch): void {
    this.#slow.delete(watch);
  }

  /** Ends the watches that have been behind longest, until the backlog is within the limit. */
  makeRoom(): void {
    if (this.#bytes <= MAX_WAITING_BYTES) return;
    let ended = 0;
    for (const watch of this.#slow) {
      if (this.#bytes <= MAX_WAITING_BYTES) break;
      watch.giveUp();
      ended++;
    }
    this.#warn(ended);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #endStalled(): void {
    this.#timer = undefined;
    const now = this.options.clock.now();
    let ended = 0;
    for (const watch of [...this.#slow]) {
      if (now - watch.progressedAt < MAX_STALL_MS) continue;
      watch.giveUp();
      ended++;
    }
    this.#warn(ended);
    if (this.#slow.size > 0) this.#timer = this.options.clock.timer(CHECK_INTERVAL_MS, () => this.#endStalled());
  }

  #warn(ended: number): void {
    const now = this.options.clock.now();
    if (ended === 0 || now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.options.log.warn('ending watches: their clients do not read their events', { ended, bytes: this.#bytes });
  }
}
