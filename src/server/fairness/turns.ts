/**
 * Whose requests are worked on in a turn of the loop. Most requests are over in the turn in which they came, before any
 * seat could be short; what one client's flood then takes from the others is the turn itself. So each flow has a quantum of
 * work a turn, and what is more waits for the next one: the flood reads, and is read, no faster than it is answered, and
 * everybody else waits for a turn that is short. A flow that is alone has a quantum that it hardly ever reaches.
 */
import type { Client, NextTurn } from './admitting.ts';

export class Flow {
  /** What it has taken since the quanta were given out. */
  used = 0;
  readonly parked: Parked[] = [];
  /** Where its requests queue for seats. */
  hand: readonly number[] | undefined;

  constructor(readonly name: string) {}
}

interface Parked {
  readonly cost: number;
  readonly go: () => void;
  readonly client: Client;
}

/** In seats. A get or a create is one. */
const ALONE = 128;
const SHARED = 2;
/** What a turn works off of what was parked, for all flows together. */
const TOGETHER = 64;
/** For so many turns after two flows were seen, others are reckoned with. */
const REMEMBERED = 256;

export class Turns {
  #nextTurn: NextTurn;
  #used: Flow[] = [];
  /** Flows that have parked requests, in the order in which they get their turn. */
  readonly #ring: Flow[] = [];
  #sharedFor = 0;
  #isArmed = false;
  /** Requests that wait for a turn. */
  waiting = 0;

  constructor(nextTurn: NextTurn) {
    this.#nextTurn = nextTurn;
  }

  turnBy(nextTurn: NextTurn): void {
    this.#nextTurn = nextTurn;
  }

  /** Whether the flow may do this much now; what may not is to be parked. */
  take(flow: Flow, cost: number): boolean {
    const quantum = this.#sharedFor > 0 ? SHARED : ALONE;
    if (flow.parked.length > 0 || flow.used >= quantum) return false;
    this.#use(flow, cost);
    // Quanta are given out anew only when somebody has used half of his: most turns of the loop need nothing at their end.
    if (flow.used * 2 >= quantum) this.#arm();
    return true;
  }

  park(flow: Flow, parked: Parked): void {
    if (flow.parked.push(parked) === 1) this.#ring.push(flow);
    this.waiting++;
    this.#arm();
  }

  #use(flow: Flow, cost: number): void {
    if (flow.used === 0) {
      this.#used.push(flow);
      if (this.#used.length > 1) this.#sharedFor = REMEMBERED;
    }
    flow.used += cost;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isArmed = false;
    for (const flow of this.#used) flow.used = 0;
    this.#used = [];
    if (this.#sharedFor > 0) this.#sharedFor--;
    const quantum = this.#sharedFor > 0 ? SHARED : ALONE;
    let done = 0;
    for (let left = this.#ring.length; left > 0 && done < TOGETHER; left--) {
      const flow = this.#ring.shift()!;
      done += this.#serve(flow, quantum);
      if (flow.parked.length > 0) this.#ring.push(flow);
    }
    // What was done now counts against the turn that begins.
    if (done > 0 || this.#ring.length > 0) this.#arm();
  }

  #serve(flow: Flow, quantum: number): number {
    let done = 0;
    let next = 0;
    while (next < flow.parked.length && done < quantum) {
      const parked = flow.parked[next++]!;
      if (!parked.client.isDisconnected) {
        done += parked.cost;
        this.#use(flow, parked.cost);
      }
      parked.go();
    }
    flow.parked.splice(0, next);
    this.waiting -= next;
    return done;
  }
}
