import type { CallOptions } from '../../../api/call.ts';
import { ApiError } from '../../../api/errors.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import { canTakeSeats } from './concurrency-limits.ts';
import type { FlowControl, FlowControlRequest, NextTurn, Seat } from './flow-control.ts';
import { type FlowAssignment, FlowSchemas } from './flow-schemas.ts';
import { flowControlMetrics } from './metrics.ts';
import { networkOf } from './network.ts';
import type { PriorityLevel } from './priority-level.ts';
import { Flow, TurnScheduler } from './turn-scheduler.ts';

export interface PriorityAndFairnessOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  /** Seats of all priority levels together. */
  readonly seats: number;
  /** Timeout for requests waiting for a seat. */
  readonly maxWaitMs: number;
  readonly nextTurn: NextTurn;
}

type RejectReason = 'concurrency-limit' | 'queue-full' | 'time-out';

export const tooManyRequests = () =>
  new ApiError('TooManyRequests', 'too many requests, please try again later', { details: { retryAfterSeconds: 1 } });

/** Limit for tracked networks of unauthenticated clients; beyond it, all of them are reset. */
const MAX_UNAUTHENTICATED_NETWORKS = 4096;
/** Limit for unauthenticated requests from one network that wait for their 401. */
const MAX_WAITING_UNAUTHENTICATED = 1_000;
const UNKNOWN_CLIENT = { isDisconnected: false };

/** API Priority and Fairness; the folder's README explains how its parts work together. */
export class PriorityAndFairness implements FlowControl {
  readonly #schemas: FlowSchemas;
  readonly #turns: TurnScheduler;
  readonly #unauthenticated = new Map<string, Flow>();
  /** Number of requests waiting for a seat. */
  #queued = 0;
  #isExpiring = false;

  constructor(private readonly options: PriorityAndFairnessOptions) {
    this.#turns = new TurnScheduler(options.nextTurn);
    const { cache, seats } = options;
    const onSeatsFreed = (level: PriorityLevel, freed: number) => this.#freeSeats(level, freed);
    this.#schemas = new FlowSchemas({ cache, seats, onSeatsFreed });
  }

  admit(request: FlowControlRequest): Seat | Promise<Seat> {
    const assignment = this.#schemas.assign(request);
    const { level, flow } = assignment;
    if (level.isExempt) return this.#takeSeats(assignment, 1);
    const seats = this.#seatsFor(request, level.maxSeatsPerRequest);
    if (this.#turns.take(flow, seats)) return this.#findSeats(assignment, request, seats);
    return new Promise<void>((run) => {
      this.#turns.park(flow, { cost: seats, run, client: request.client });
    }).then(() => this.#findSeats(assignment, request, seats));
  }

  /** Delays rejections: rejecting a request takes as long as serving one. */
  delayUnauthenticated(address: string, cost: number): Promise<void> | undefined {
    const flow = this.#unauthenticatedFlow(networkOf(address));
    if (this.#turns.take(flow, cost)) return undefined;
    return new Promise((run) => this.#turns.park(flow, { cost, run, client: UNKNOWN_CLIENT }));
  }

  setNextTurn(nextTurn: NextTurn): void {
    this.#turns.setNextTurn(nextTurn);
  }

  isOverloadedBy(address: string): boolean {
    const flow = this.#unauthenticated.get(networkOf(address));
    return flow !== undefined && flow.parked.length >= MAX_WAITING_UNAUTHENTICATED;
  }

  lines(): Iterable<string> {
    return flowControlMetrics(this.#schemas, this.#turns.waiting);
  }

  #unauthenticatedFlow(network: string): Flow {
    return getOrInsert(this.#unauthenticated, network, () => {
      if (this.#unauthenticated.size >= MAX_UNAUTHENTICATED_NETWORKS) this.#unauthenticated.clear();
      return new Flow(network);
    });
  }

  /** Returns the seats of a request; only requests for many objects take more than one. */
  #seatsFor({ attributes, kind, options }: FlowControlRequest, maxSeats: number): number {
    if (attributes.path !== undefined || !kind || maxSeats === 1) return 1;
    const { verb, namespace, name } = attributes;
    if ((verb !== 'list' && verb !== 'watch') || name !== '') return 1;
    const count = () => this.options.cache.table(kind).count(namespace);
    return Math.min(maxSeats, estimateSeats(verb, options, count));
  }

  #findSeats(assignment: FlowAssignment, request: FlowControlRequest, seats: number): Seat | Promise<Seat> {
    const { level, flow, counts } = assignment;
    const isFree = level.waiting === 0 && canTakeSeats(level, seats, this.#schemas.levels, this.options.seats);
    if (isFree) return this.#takeSeats(assignment, seats);
    return new Promise((resolve, reject) => {
      const refuse = (reason: RejectReason) => {
        this.#queued--;
        counts.rejected(reason);
        reject(tooManyRequests());
      };
      const since = this.options.clock.now();
      const run = () => {
        this.#queued--;
        counts.waited((this.options.clock.now() - since) / 1000);
        resolve(this.#takeSeats(assignment, seats));
      };
      this.#queued++;
      const reason = level.enqueue(flow, { seats, since, run, refuse, client: request.client });
      if (reason) refuse(reason);
      else this.#expireAfter(this.options.maxWaitMs);
    });
  }

  #takeSeats(assignment: FlowAssignment, seats: number): Seat {
    const { level, counts } = assignment;
    level.executingSeats += seats;
    level.executingRequests++;
    counts.dispatched++;
    return seats === 1 ? assignment.seat : assignment.seatOf(seats);
  }

  #freeSeats(level: PriorityLevel, seats: number): void {
    level.executingSeats -= seats;
    if (this.#queued === 0) return;
    for (const each of this.#schemas.levels) if (each.waiting > 0) this.#dispatch(each);
  }

  #dispatch(level: PriorityLevel): void {
    for (let next = level.next(); next; next = level.next()) {
      if (!canTakeSeats(level, next.seats, this.#schemas.levels, this.options.seats)) return;
      level.dequeue();
      next.run();
    }
  }

  /** Schedules the rejection of requests that have waited too long. One timer serves all of them. */
  #expireAfter(delayMs: number): void {
    if (this.#isExpiring) return;
    this.#isExpiring = true;
    const { clock, maxWaitMs } = this.options;
    clock.timer(delayMs, () => {
      this.#isExpiring = false;
      const now = clock.now();
      const oldest = [...this.#schemas.levels].flatMap((level) => level.expire(now - maxWaitMs) ?? []);
      if (oldest.length > 0) this.#expireAfter(oldest.reduce((least, each) => Math.min(least, each)) + maxWaitMs - now);
    });
  }
}

const OBJECTS_PER_SEAT = 100;
const MAX_SEATS = 10;

/** Estimates the seats of a list, or of a watch that begins with one: more for more objects. */
function estimateSeats(verb: 'list' | 'watch', options: CallOptions, count: () => number): number {
  const { resourceVersion, sendInitialEvents, limit, labelSelector, fieldSelector } = options;
  // A watch that starts at a resource version does not begin with a list.
  if (verb === 'watch' && !sendInitialEvents && resourceVersion && resourceVersion !== '0') return 1;
  // With a selector, all objects are examined, however few match.
  const examined = limit && !labelSelector && !fieldSelector ? Math.min(limit, count()) : count();
  return Math.max(1, Math.min(MAX_SEATS, Math.ceil(examined / OBJECTS_PER_SEAT)));
}
