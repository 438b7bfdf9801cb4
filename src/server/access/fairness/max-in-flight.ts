import type { FlowControl, FlowControlRequest, Seat } from './flow-control.ts';
import { tooManyRequests } from './priority-and-fairness.ts';

export interface MaxInFlightOptions {
  /** Limit for concurrent requests; 0 means unlimited. */
  readonly maxReading: number;
  readonly maxMutating: number;
}

const READING_VERBS = new Set(['get', 'list', 'watch', 'head', 'options']);
const UNLIMITED_SEAT: Seat = {
  headers: [],
  pause: () => undefined,
  resume: () => undefined,
  release: () => undefined,
};

/** Limits the number of concurrent requests, without queues, and treats all users but administrators alike. */
export class MaxInFlight implements FlowControl {
  readonly #reading: Limiter;
  readonly #mutating: Limiter;

  constructor({ maxReading, maxMutating }: MaxInFlightOptions) {
    this.#reading = new Limiter(maxReading);
    this.#mutating = new Limiter(maxMutating);
  }

  admit({ attributes: { user, verb } }: FlowControlRequest): Seat {
    // Administrators must be able to repair an overloaded server.
    if (user.groups.includes('system:masters')) return UNLIMITED_SEAT;
    return (READING_VERBS.has(verb) ? this.#reading : this.#mutating).admit();
  }

  delayUnauthenticated(): undefined {
    return undefined;
  }

  isOverloadedBy(): boolean {
    return false;
  }

  lines(): Iterable<string> {
    return [];
  }
}

class Limiter {
  #inFlight = 0;
  readonly #seat: Seat = {
    headers: [],
    pause: () => undefined,
    resume: () => undefined,
    release: () => void this.#inFlight--,
  };

  constructor(private readonly max: number) {}

  admit(): Seat {
    if (this.max > 0 && this.#inFlight >= this.max) throw tooManyRequests();
    this.#inFlight++;
    return this.#seat;
  }
}
