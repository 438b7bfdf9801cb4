/** Limits what waits for the clients of all watches together. */

import type { WatchEvent } from '../../../api/reply.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';

/** Distinct events that wait for clients: those of several watches are shared, and count once. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** How much a watch sends ahead of what its client has read. */
const WINDOW_BYTES = 512 * 1024;
/** The same while all watches together have sent more than `MAX_IN_FLIGHT_BYTES` ahead. */
const SMALL_WINDOW_BYTES = 16 * 1024;
const MAX_IN_FLIGHT_BYTES = 64 * 1024 * 1024;
/** A watch whose client has read nothing for so long, although something waits for it, is ended. */
const MAX_STALL_MS = 60_000;
const CHECK_INTERVAL_MS = 10_000;
const WARNING_INTERVAL_MS = 60_000;

/** A watch with events that wait for its client. */
interface SlowWatch {
  progressedAt: number;
  giveUp(): void;
}

export interface WatchBacklogsOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

export class WatchBacklogs {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Bytes that were sent to clients and have not been read, of all watches together. */
  inFlight = 0;
  /** By event, for how many watches it waits. */
  readonly #holders = new Map<WatchEvent, number>();
  #bytes = 0;
  /** Those that have been behind longest come first. */
  readonly #slow = new Set<SlowWatch>();
  #timer: Timer | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, log }: WatchBacklogsOptions) {
    this.#clock = clock;
    this.#log = log;
  }

  get window(): number {
    return this.inFlight > MAX_IN_FLIGHT_BYTES ? SMALL_WINDOW_BYTES : WINDOW_BYTES;
  }

  /** Distinct bytes that wait. */
  get waitingBytes(): number {
    return this.#bytes;
  }

  /** Counts an event that waits for a watch. Returns its size. */
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

  /** A watch has fallen behind. */
  add(watch: SlowWatch): void {
    watch.progressedAt = this.#clock.now();
    this.#slow.add(watch);
    this.#timer ??= this.#clock.timer(CHECK_INTERVAL_MS, () => this.#endStalled());
  }

  progressed(watch: SlowWatch): void {
    watch.progressedAt = this.#clock.now();
  }

  /** A watch has caught up, or has ended. */
  delete(watch: SlowWatch): void {
    this.#slow.delete(watch);
  }

  /** Ends the watches that have been behind longest, until what waits is within the limit. */
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
    const now = this.#clock.now();
    let ended = 0;
    for (const watch of [...this.#slow]) {
      if (now - watch.progressedAt < MAX_STALL_MS) continue;
      watch.giveUp();
      ended++;
    }
    this.#warn(ended);
    if (this.#slow.size > 0) this.#timer = this.#clock.timer(CHECK_INTERVAL_MS, () => this.#endStalled());
  }

  #warn(ended: number): void {
    const now = this.#clock.now();
    if (ended === 0 || now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    this.#log.warn('ending watches: their clients do not read their events', { ended, bytes: this.#bytes });
  }
}
