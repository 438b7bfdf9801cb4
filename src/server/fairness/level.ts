import type { PriorityLevelConfiguration } from '../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Client } from './admitting.ts';
import { handOf } from './hand.ts';
import type { Bounds } from './seats.ts';
import type { Flow } from './turns.ts';

/** A request that waits for a seat. */
export interface Waiting {
  readonly seats: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (reason: 'time-out') => void;
  readonly client: Client;
}

interface Queue {
  readonly waiting: Waiting[];
  /** How much this queue has had, in the level's own measure of time: the queue that has had least is next. */
  had: number;
}

type Queuing = NonNullable<NonNullable<PriorityLevelConfiguration['spec']['limited']>['limitResponse']>['queuing'];

const NO_BOUNDS: Bounds = { nominal: 0, lower: 0, upper: 0 };

/** A priority level: its seats, who has them, and who waits for one. */
export class Level {
  uid = '';
  isExempt = false;
  bounds: Bounds = NO_BOUNDS;
  /** Seats in use, and requests that have them. */
  executing = 0;
  running = 0;
  /** Requests that wait. */
  waiting = 0;
  #queuing: Queuing;
  #queues: (Queue | undefined)[] = [];
  #now = 0;

  constructor(readonly name: string) {}

  configure(uid: string, { type, limited }: PriorityLevelConfiguration['spec'], bounds: Bounds): void {
    this.uid = uid;
    this.isExempt = type === 'Exempt';
    this.bounds = bounds;
    this.#queuing = limited?.limitResponse?.queuing;
  }

  /** How many seats one request has at most, so that a few large ones do not take them all. */
  get widest(): number {
    return Math.max(1, Math.floor(this.bounds.nominal * 0.15));
  }

  /** Says why it cannot be done, or nothing. */
  enqueue(flow: Flow, waiting: Waiting): 'concurrency-limit' | 'queue-full' | undefined {
    if (!this.#queuing) return 'concurrency-limit';
    const queue = this.#shortest(flow, this.#queuing);
    if (queue.waiting.length >= this.#queuing.queueLengthLimit) return 'queue-full';
    if (queue.waiting.length === 0) queue.had = Math.max(queue.had, this.#now);
    queue.waiting.push(waiting);
    this.waiting++;
    return undefined;
  }

  /** The request whose turn it is, without taking it out; those whose client has gone are let go of. */
  next(): Waiting | undefined {
    for (;;) {
      const queue = this.#first();
      const waiting = queue?.waiting[0];
      if (!waiting?.client.isDisconnected) return waiting;
      queue?.waiting.shift();
      this.waiting--;
      waiting.go();
    }
  }

  /** Takes out what `next` showed. */
  dequeue(): void {
    const queue = this.#first();
    const waiting = queue?.waiting.shift();
    if (!queue || !waiting) return;
    this.#now = queue.had;
    queue.had += waiting.seats;
    this.waiting--;
  }

  /** Takes out those that have waited since before the moment; says since when the longest of the others waits. */
  expire(moment: number): number | undefined {
    let oldest: number | undefined;
    for (const queue of this.#queues) {
      const { waiting } = queue ?? { waiting: [] };
      while (waiting[0] && waiting[0].since <= moment) {
        waiting.shift()!.refuse('time-out');
        this.waiting--;
      }
      if (waiting[0]) oldest = Math.min(oldest ?? waiting[0].since, waiting[0].since);
    }
    return oldest;
  }

  #first(): Queue | undefined {
    let first: Queue | undefined;
    for (const queue of this.#queues) {
      if (queue && queue.waiting.length > 0 && (!first || queue.had < first.had)) first = queue;
    }
    return first;
  }

  #shortest(flow: Flow, { queues, handSize }: NonNullable<Queuing>): Queue {
    flow.hand ??= handOf(flow.name, queues, handSize);
    let shortest: Queue | undefined;
    for (const index of flow.hand) {
      const queue = this.#queue(index);
      if (!shortest || queue.waiting.length < shortest.waiting.length) shortest = queue;
    }
    return shortest!;
  }

  #queue(index: number): Queue {
    const queue = this.#queues[index] ?? { waiting: [], had: 0 };
    this.#queues[index] = queue;
    return queue;
  }
}
