/**
 * Finds the requests of a connection that etcd has lost. A member passes a write on to the leader; when that one is cut off before it has passed
 * the write back to a majority, nobody does so later, and the member says so only after seven seconds. Here a request that waits is given up
 * as soon as the member follows another leader, which would have answered at once.
 */
import type { Clock } from '../../base/time/clock.ts';
import type { GrpcClient } from '../../protocols/grpc/client.ts';
import { statusMethod } from './members/status.ts';
import type { ResponseHeader } from './messages.ts';

/** A request without an answer. */
export interface WaitingRequest {
  /** The last term that a response had shown when the request was sent; 0: none. */
  readonly term: number;
  /** Called once when the request is given up. */
  lost(): void;
}

/** Interval between questions to the member, and at least the time that a new leader has to answer. */
const INTERVAL_MS = 250;

export class LostRequests {
  readonly #waiting = new Set<WaitingRequest>();
  /** Requests that the last answer of the member already showed as lost. */
  #suspects = new Set<WaitingRequest>();
  #term = 0;
  #isChecking = false;

  constructor(
    private readonly client: GrpcClient,
    private readonly clock: Clock,
  ) {}

  /** The highest term that a response has shown. */
  get term(): number {
    return this.#term;
  }

  /** Takes the term of a response, if it has one. */
  saw(response: unknown): void {
    const { term = 0 } = (response as { readonly header?: ResponseHeader } | undefined)?.header ?? {};
    if (term > this.#term) this.#term = term;
  }

  /** Checks a request that has waited for a while, until it is removed. */
  add(request: WaitingRequest): void {
    if (request.term === 0) return;
    this.#waiting.add(request);
    if (!this.#isChecking) this.#check();
  }

  remove(request: WaitingRequest): void {
    this.#waiting.delete(request);
  }

  #check(): void {
    this.#isChecking = this.#waiting.size > 0;
    if (!this.#isChecking) return;
    this.client.unary(statusMethod, {}, (error, status) => {
      // A connection that fails ends its requests itself.
      if (error || !status) this.#isChecking = false;
      else {
        this.#judge(status.leader === 0n ? 0 : status.term);
        this.clock.timer(INTERVAL_MS, () => this.#check());
      }
    });
  }

  /** Gives up what was sent in an earlier term than that of the present leader, if that was so the last time, too. */
  #judge(term: number): void {
    const found = new Set([...this.#waiting].filter((request) => request.term < term));
    for (const request of found) {
      if (!this.#suspects.has(request)) continue;
      this.#waiting.delete(request);
      found.delete(request);
      request.lost();
    }
    this.#suspects = found;
  }
}
