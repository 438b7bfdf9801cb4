/**
 * Shares out the turns of the event loop among flows. Most requests complete in the turn in which they arrive, before
 * seats could run out, so a client's flood takes the turn itself away from others. Therefore each flow has a quantum of
 * work per turn, and work beyond it waits for the next turn: a flood is read no faster than it is answered, and the
 * turns that all others wait for stay short. A flow that is alone has a quantum that it hardly ever reaches.
 */
import type { NextTurn, RequestClient } from './flow-control.ts';

export class Flow {
  /** Work done since the quanta were renewed. */
  used = 0;
  readonly parked: ParkedRequest[] = [];
  /** The queues of its priority level that its requests may use. */
  hand: readonly number[] | undefined;

  constructor(readonly name: string) {}
}

interface ParkedRequest {
  readonly cost: number;
  readonly run: () => void;
  readonly client: RequestClient;
}

// Work is measured in seats. A get or a create is one.
const QUANTUM_ALONE = 128;
const QUANTUM_SHARED = 2;
/** Limit for parked work, of all flows together, that is done in a turn. */
const MAX_PARKED_WORK_PER_TURN = 64;
/** Number of turns for which the smaller quantum applies after two flows were active. */
const SHARED_TURNS = 256;

export class TurnScheduler {
  #active: Flow[] = [];
  /** Flows with parked requests, in the order of service. */
  readonly #ring: Flow[] = [];
  #sharedTurnsLeft = 0;
  #isScheduled = false;
  /** Number of parked requests of all flows. */
  waiting = 0;

  constructor(private nextTurn: NextTurn) {}

  setNextTurn(nextTurn: NextTurn): void {
    this.nextTurn = nextTurn;
  }

  /** Takes this much work from the flow's quantum. Returns false if it is used up: then the request must be parked. */
  take(flow: Flow, cost: number): boolean {
    const quantum = this.#sharedTurnsLeft > 0 ? QUANTUM_SHARED : QUANTUM_ALONE;
    if (flow.parked.length > 0 || flow.used >= quantum) return false;
    this.#use(flow, cost);
    // Quanta are renewed only after a flow has used half of its own: most turns need no work at their end.
    if (flow.used * 2 >= quantum) this.#schedule();
    return true;
  }

  park(flow: Flow, request: ParkedRequest): void {
    if (flow.parked.push(request) === 1) this.#ring.push(flow);
    this.waiting++;
    this.#schedule();
  }

  #use(flow: Flow, cost: number): void {
    if (flow.used === 0) {
      this.#active.push(flow);
      if (this.#active.length > 1) this.#sharedTurnsLeft = SHARED_TURNS;
    }
    flow.used += cost;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    for (const flow of this.#active) flow.used = 0;
    this.#active = [];
    if (this.#sharedTurnsLeft > 0) this.#sharedTurnsLeft--;
    const quantum = this.#sharedTurnsLeft > 0 ? QUANTUM_SHARED : QUANTUM_ALONE;
    let done = 0;
    for (let left = this.#ring.length; left > 0 && done < MAX_PARKED_WORK_PER_TURN; left--) {
      const flow = this.#ring.shift()!;
      done += this.#serve(flow, quantum);
      if (flow.parked.length > 0) this.#ring.push(flow);
    }
    // Work done now counts against the new turn.
    if (done > 0 || this.#ring.length > 0) this.#schedule();
  }

  #serve(flow: Flow, quantum: number): number {
    let done = 0;
    let next = 0;
    while (next < flow.parked.length && done < quantum) {
      const request = flow.parked[next++]!;
      if (!request.client.isDisconnected) {
        done += request.cost;
        this.#use(flow, request.cost);
      }
      request.run();
    }
    flow.parked.splice(0, next);
    this.waiting -= next;
    return done;
  }
}
