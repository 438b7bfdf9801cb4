/** The times of revisions, which convert a point in time to a `resourceVersion` that can be read. */
import type { Clock } from '../../base/time/clock.ts';

/** A revision, and the time from which it was the newest one. */
interface RevisionTime {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly revision: number;
}

/** The document at `/history`. */
export interface HistoryDocument {
  readonly now: string;
  /** Revisions, oldest first; each was the newest from its time on. The first was reached at the start, or later. */
  readonly revisions: readonly { readonly time: string; readonly resourceVersion: string }[];
}

/** Limit for revision times: beyond it every second one is dropped, so that old times become less exact. */
const MAX_REVISION_TIMES = 10_000;
const MIN_INTERVAL_MS = 10;

interface RevisionTimesOptions {
  readonly clock: Clock;
  readonly revision: number;
  /** Retention of history. */
  readonly milliseconds: number;
}

export class RevisionTimes {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  #times: RevisionTime[];
  #intervalMs = MIN_INTERVAL_MS;
  /** The newest revision, while it is too close to the previous one to be added. */
  #latest: RevisionTime;

  constructor({ clock, revision, milliseconds }: RevisionTimesOptions) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#latest = { time: clock.now(), revision };
    this.#times = [this.#latest];
  }

  /** Records a revision. Called after changes were applied. */
  note(revision: number): void {
    const time = this.#clock.now();
    const last = this.#latest;
    this.#latest = { time, revision };
    // A revision is valid until the next one, so the last of an interval is kept.
    if (last !== this.#times.at(-1) && time - this.#times.at(-1)!.time >= this.#intervalMs) this.#times.push(last);
    if (this.#times.length > MAX_REVISION_TIMES) this.#thin(time);
  }

  document(): HistoryDocument {
    const now = this.#clock.now();
    const oldest = now - this.#milliseconds;
    const all = this.#latest === this.#times.at(-1) ? this.#times : [...this.#times, this.#latest];
    // The revision before the oldest one was still the newest at that time.
    const first = Math.max(
      0,
      all.findLastIndex(({ time }) => time <= oldest),
    );
    const revisions = all.slice(first).map(({ time, revision }) => ({
      time: new Date(Math.max(time, oldest)).toISOString(),
      resourceVersion: String(revision),
    }));
    return { now: new Date(now).toISOString(), revisions };
  }

  #thin(now: number): void {
    const oldest = now - this.#milliseconds;
    const kept = this.#times.filter(({ time }) => time >= oldest);
    if (kept.length <= MAX_REVISION_TIMES / 2) {
      this.#times = kept.length > 0 ? kept : this.#times.slice(-1);
      return;
    }
    this.#times = kept.filter((_, index) => index % 2 === 0);
    this.#intervalMs *= 2;
  }
}
