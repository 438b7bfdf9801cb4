import type { Kind } from '../../kinds/kind.ts';
import type { CallOptions } from '../api.ts';
import type { Attributes } from '../authz/authorizer.ts';
import type { Memo } from '../per-route.ts';

/** Whoever waits for the answer, unless he has left. */
export interface Client {
  readonly isDisconnected: boolean;
}

/** A request that wants to be worked on. */
export interface Entering {
  readonly attributes: Attributes;
  /** Where it is for objects: of requests of its sort, what objects, and how they are selected. */
  readonly memo: Memo | undefined;
  readonly kind: Kind | undefined;
  readonly options: CallOptions;
  readonly client: Client;
}

/** The right to be worked on, until it is given back. */
export interface Seat {
  /** Header names and values in turn, for the reply. */
  readonly headers: readonly string[];
  /** While the client is waited for, somebody else may have it. */
  pause(): void;
  resume(): void;
  /** To be called once. */
  leave(): void;
}

/** Whoever decides when a request is worked on. */
export interface Admitting {
  /** At once where there is room: it runs for every request. Throws or rejects with TooManyRequests. */
  enter(entering: Entering): Seat | Promise<Seat>;
  /** Somebody whom nobody knows wants something that costs so many seats. Undefined where he need not wait. */
  stranger(address: string, cost: number): Promise<void> | undefined;
  /** Whether so many of his place wait already that another is not worth an answer. */
  isCrowded(address: string): boolean;
  /** Says what a turn is, from whoever reads requests and writes answers; before, it is one of this thread's loop. */
  turnBy?(nextTurn: NextTurn): void;
  lines(): Iterable<string>;
}

/** Runs the task after what was answered has left, and what came meanwhile has been read. */
export type NextTurn = (task: () => void) => void;
