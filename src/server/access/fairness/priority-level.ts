import type { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import type { RequestClient } from './flow-control.ts';
import type { Flow } from './turn-scheduler.ts';

interface QueuedRequest {
  readonly seats: number;
  /** Time of arrival in milliseconds since the epoch. */
  readonly since: number;
  readonly run: () => void;
  readonly refuse: (reason: 'time-out') => void;
  readonly client: RequestClient;
}

interface Queue {
  readonly requests: QueuedRequest[];
  /** Seats that the queue's requests have had, in the level's virtual time: the queue with the least is next. */
  virtualStart: number;
}

type Queuing = NonNullable<NonNullable<PriorityLevelConfiguration['spec']['limited']>['limitResponse']>['queuing'];

const NO_LIMITS: ConcurrencyLimits = { nominal: 0, lower: 0, upper: 0 };
/** Maximum fraction of a level's nominal seats for one request, so that a few large ones do not take them all. */
const MAX_REQUEST_FRACTION = 0.15;

/** A priority level: its seats, which of them are in use, and its queue set. */
export class PriorityLevel {
  uid = '';
  isExempt = false;
  limits: ConcurrencyLimits = NO_LIMITS;
  executingSeats = 0;
  executingRequests = 0;
  /** Number of requests in its queues. */
  waiting = 0;
  #queuing: Queuing;
  #queues: (Queue | undefined)[] = [];
  #virtualTime = 0;

  constructor(readonly name: string) {}

  configure(uid: string, { type, limited }: PriorityLevelConfiguration['spec'], limits: ConcurrencyLimits): void {
    this.uid = uid;
    this.isExempt = type === 'Exempt';
    this.limits = limits;
    this.#queuing = limited?.limitResponse?.queuing;
  }

  get maxSeatsPerRequest(): number {
    return Math.max(1, Math.floor(this.limits.nominal * MAX_REQUEST_FRACTION));
  }

  /** Queues a request. Returns the reason if that is not possible, or undefined. */
  enqueue(flow: Flow, request: QueuedRequest): 'concurrency-limit' | 'queue-full' | undefined {
    if (!this.#queuing) return 'concurrency-limit';
    const queue = this.#shortestQueue(flow, this.#queuing);
    if (queue.requests.length >= this.#queuing.queueLengthLimit) return 'queue-full';
    if (queue.requests.length === 0) queue.virtualStart = Math.max(queue.virtualStart, this.#virtualTime);
    queue.requests.push(request);
    this.waiting++;
    return undefined;
  }

  /** Returns the next request, which stays queued. Removes requests of disconnected clients on the way. */
  next(): QueuedRequest | undefined {
    for (;;) {
      const queue = this.#nextQueue();
      const request = queue?.requests[0];
      if (!request?.client.isDisconnected) return request;
      queue?.requests.shift();
      this.waiting--;
      request.run();
    }
  }

  /** Removes the request returned by `next`. */
  dequeue(): void {
    const queue = this.#nextQueue();
    const request = queue?.requests.shift();
    if (!queue || !request) return;
    this.#virtualTime = queue.virtualStart;
    queue.virtualStart += request.seats;
    this.waiting--;
  }

  /** Rejects requests that have waited since `moment` or longer. Returns when the oldest of the others arrived. */
  expire(moment: number): number | undefined {
    let oldest: number | undefined;
    for (const queue of this.#queues) {
      const { requests } = queue ?? { requests: [] };
      while (requests[0] && requests[0].since <= moment) {
        requests.shift()!.refuse('time-out');
        this.waiting--;
      }
      if (requests[0]) oldest = Math.min(oldest ?? requests[0].since, requests[0].since);
    }
    return oldest;
  }

  #nextQueue(): Queue | undefined {
    let next: Queue | undefined;
    for (const queue of this.#queues) {
      if (queue && queue.requests.length > 0 && (!next || queue.virtualStart < next.virtualStart)) next = queue;
    }
    return next;
  }

  #shortestQueue(flow: Flow, { queues, handSize }: NonNullable<Queuing>): Queue {
    flow.hand ??= dealQueues(flow.name, queues, handSize);
    let shortest: Queue | undefined;
    for (const index of flow.hand) {
      const queue = this.#queueAt(index);
      if (!shortest || queue.requests.length < shortest.requests.length) shortest = queue;
    }
    return shortest!;
  }

  #queueAt(index: number): Queue {
    const queue = this.#queues[index] ?? { requests: [], virtualStart: 0 };
    this.#queues[index] = queue;
    return queue;
  }
}

/**
 * Deals a flow its hand of queues (shuffle sharding). Two flows seldom have the same hand, so a flow that fills its
 * queues leaves nearly every other flow a short one. A flow always gets the same hand.
 */
export function dealQueues(flow: string, queues: number, handSize: number): readonly number[] {
  let seed = hash(flow);
  const hand: number[] = [];
  // A card is an index among the remaining queues: counting past the dealt ones, in ascending order, gives the queue.
  for (let left = queues; hand.length < handSize && left > 0; left--) {
    let card = seed % left;
    seed = mix(Math.floor(seed / left) ^ seed);
    const dealt = [...hand].sort((a, b) => a - b);
    for (const before of dealt) if (before <= card) card++;
    hand.push(card);
  }
  return hand;
}

/** Hashes the text's characters with 32-bit FNV-1a, mixed. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return mix(value);
}

/** Mixes with the finalizer of MurmurHash3: every input bit affects every output bit. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
