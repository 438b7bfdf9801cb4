/** The times of revisions, which convert a point in time to a `resourceVersion` that can be read. */
import type { Clock } from '../../base/time/clock.ts';
import type { Moment } from '../../store/archive/archive.ts';

/** The document at `/history`. */
export interface HistoryDocument {
  readonly now: string;
  /** The oldest and the newest state that can be read. */
  readonly oldest: RevisionTime;
  readonly newest: RevisionTime;
  /** Revisions, oldest first; each was the newest from its time on. The first was reached at the start, or later. */
  readonly revisions: readonly RevisionTime[];
}

/** A revision, and the time from which it was the newest one. */
interface RevisionTime {
  readonly time: string;
  readonly resourceVersion: string;
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
  #times: Moment[];
  #intervalMs = MIN_INTERVAL_MS;
  /** The newest revision, while it is too close to the previous one to be added. */
  #latest: Moment;

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

  /** The known moments, oldest first. */
  get moments(): readonly Moment[] {
    return this.#latest === this.#times.at(-1) ? this.#times : [...this.#times, this.#latest];
  }

  /** `bounds`: the states that can be read, which may reach further back than the times that are known here. */
  document(bounds: { readonly oldest: Moment; readonly newest: Moment }): HistoryDocument {
    const now = this.#clock.now();
    const oldest = now - this.#milliseconds;
    const all = this.moments;
    // The revision before the oldest one was still the newest at that time.
    const first = Math.max(
      0,
      all.findLastIndex(({ time }) => time <= oldest),
    );
    const revisions = all.slice(first).map(({ time, revision }) => shown({ time: Math.max(time, oldest), revision }));
    return {
      now: new Date(now).toISOString(),
      oldest: shown(bounds.oldest),
      newest: shown(bounds.newest),
      revisions,
    };
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

const shown = ({ time, revision }: Moment): RevisionTime => ({
  time: new Date(time).toISOString(),
  resourceVersion: String(revision),
});
