/**
 * Who is served when many want to be: API Priority and Fairness. A flow schema says to which priority level a request
 * belongs and to which flow within it (schemas.ts, match.ts); a level has seats, by its share, and queues for those who
 * find none (level.ts, seats.ts); and within a turn of the loop no flow takes more than its part (turns.ts). The objects
 * that say it are in the store, and keep.ts keeps the default ones in order. in-flight.ts is the plain limit that takes the
 * place of all this where it is switched off. How much of anything a connection may send is http/'s business.
 */
import type { Clock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import type { Cache } from '../cache/cache.ts';
import type { Admitting, Entering, NextTurn, Seat } from './admitting.ts';
import type { Level } from './level.ts';
import { flowLines } from './metrics.ts';
import { networkOf } from './network.ts';
import { type Belongs, Schemas } from './schemas.ts';
import { mayTake } from './seats.ts';
import { Flow, Turns } from './turns.ts';
import { seatsForMany } from './work.ts';

export interface FairnessOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  /** Seats of all levels together. */
  readonly seats: number;
  /** Milliseconds that a request waits for a seat at most. */
  readonly longestWait: number;
  readonly nextTurn: NextTurn;
}

type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out';

export const tooManyRequests = () =>
  new ApiError('TooManyRequests', 'too many requests, please try again later', { details: { retryAfterSeconds: 1 } });

/** Addresses that are told apart, of those who do not say who they are. */
const STRANGERS = 4096;
/** Requests of strangers from one place that wait to be turned away. */
const CROWD = 1_000;
const SOMEBODY = { isDisconnected: false };

export class Fairness implements Admitting {
  readonly #options: FairnessOptions;
  readonly #schemas: Schemas;
  readonly #turns: Turns;
  readonly #strangers = new Map<string, Flow>();
  /** Requests that wait for a seat. */
  #queued = 0;
  #isSweeping = false;

  constructor(options: FairnessOptions) {
    this.#options = options;
    this.#turns = new Turns(options.nextTurn);
    const { cache, seats } = options;
    this.#schemas = new Schemas({ cache, seats, freed: (level, free) => this.#freed(level, free) });
  }

  enter(entering: Entering): Seat | Promise<Seat> {
    const belongs = this.#schemas.of(entering);
    const { level, flow } = belongs;
    if (level.isExempt) return this.#sit(belongs, 1);
    const seats = this.#seatsFor(entering, level.widest);
    if (this.#turns.take(flow, seats)) return this.#findSeat(belongs, entering, seats);
    return new Promise<void>((go) => {
      this.#turns.park(flow, { cost: seats, go, client: entering.client });
    }).then(() => this.#findSeat(belongs, entering, seats));
  }

  /** Turning him away takes as long as serving others. */
  stranger(address: string, cost: number): Promise<void> | undefined {
    const network = networkOf(address);
    let flow = this.#strangers.get(network);
    if (!flow) {
      if (this.#strangers.size >= STRANGERS) this.#strangers.clear();
      flow = new Flow(network);
      this.#strangers.set(network, flow);
    }
    if (this.#turns.take(flow, cost)) return undefined;
    const waiting = flow;
    return new Promise((go) => this.#turns.park(waiting, { cost, go, client: SOMEBODY }));
  }

  turnBy(nextTurn: NextTurn): void {
    this.#turns.turnBy(nextTurn);
  }

  isCrowded(address: string): boolean {
    return (this.#strangers.get(networkOf(address))?.parked.length ?? 0) >= CROWD;
  }

  lines(): Iterable<string> {
    return flowLines(this.#schemas, this.#turns.waiting);
  }

  #seatsFor({ attributes, kind, options }: Entering, widest: number): number {
    if (attributes.path !== undefined || !kind || widest === 1) return 1;
    const { verb, namespace, name } = attributes;
    // Only who asks for many objects takes more than one.
    if ((verb !== 'list' && verb !== 'watch') || name !== '') return 1;
    const count = () => this.#options.cache.table(kind).count(namespace);
    return Math.min(widest, seatsForMany(verb, options, count));
  }

  #findSeat(belongs: Belongs, entering: Entering, seats: number): Seat | Promise<Seat> {
    const { level, flow } = belongs;
    const isFree = level.waiting === 0 && mayTake(level, seats, this.#schemas.levels, this.#options.seats);
    if (isFree) return this.#sit(belongs, seats);
    return new Promise((resolve, reject) => {
      const refuse = (reason: Refusal) => {
        this.#queued--;
        belongs.schema.refused(reason);
        reject(tooManyRequests());
      };
      const since = this.#options.clock.now();
      const go = () => {
        this.#queued--;
        belongs.schema.waited((this.#options.clock.now() - since) / 1000);
        resolve(this.#sit(belongs, seats));
      };
      this.#queued++;
      const reason = level.enqueue(flow, { seats, since, go, refuse, client: entering.client });
      if (reason) refuse(reason);
      else this.#sweepAfter(this.#options.longestWait);
    });
  }

  #sit(belongs: Belongs, seats: number): Seat {
    const { level, schema } = belongs;
    level.executing += seats;
    level.running++;
    schema.dispatched++;
    return seats === 1 ? belongs.seat : belongs.wide(seats);
  }

  #freed(level: Level, seats: number): void {
    level.executing -= seats;
    if (this.#queued === 0) return;
    for (const each of this.#schemas.levels) if (each.waiting > 0) this.#fill(each);
  }

  #fill(level: Level): void {
    for (let next = level.next(); next; next = level.next()) {
      if (!mayTake(level, next.seats, this.#schemas.levels, this.#options.seats)) return;
      level.dequeue();
      next.go();
    }
  }

  /** Those who have waited too long are told so; one timer looks after all of them. */
  #sweepAfter(delay: number): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const { clock, longestWait } = this.#options;
    clock.timer(delay, () => {
      this.#isSweeping = false;
      const now = clock.now();
      const oldest = [...this.#schemas.levels].flatMap((level) => level.expire(now - longestWait) ?? []);
      if (oldest.length > 0) this.#sweepAfter(Math.min(...oldest) + longestWait - now);
    });
  }
}
