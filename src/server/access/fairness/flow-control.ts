/** What the HTTP pipeline needs of flow control. */

import type { CallOptions } from '../../../api/call.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Attributes } from '../authz/authorizer.ts';
import type { Memo } from '../request-memos.ts';

export interface RequestClient {
  readonly isDisconnected: boolean;
}

/** A request that wants to be served. */
export interface FlowControlRequest {
  readonly attributes: Attributes;
  /** Set for requests for objects: what is known of requests of this sort, the kind, and the selection. */
  readonly memo: Memo | undefined;
  readonly kind: Kind | undefined;
  readonly options: CallOptions;
  readonly client: RequestClient;
}

/** The permission to be served, until it is released. */
export interface Seat {
  /** Alternating header names and values for the response. */
  readonly headers: readonly string[];
  /** Lets other requests use the seat while this one waits for its client. */
  pause(): void;
  resume(): void;
  /** To be called once. */
  release(): void;
}

export interface FlowControl {
  /** Takes a seat: synchronously if there is one, since this runs for every request. Throws or rejects with TooManyRequests. */
  admit(request: FlowControlRequest): Seat | Promise<Seat>;
  /**
   * Delays an unauthenticated client whose request costs this many seats, in favour of other clients; undefined when no
   * delay is needed.
   */
  delayUnauthenticated(address: string, cost: number): Promise<void> | undefined;
  /** Whether so many unauthenticated requests from this network wait that another one does not deserve a response. */
  isOverloadedBy(address: string): boolean;
  /** Replaces how the next turn is awaited. By default that is a turn of this thread's event loop. */
  setNextTurn?(nextTurn: NextTurn): void;
  /** Metrics, line by line. */
  lines(): Iterable<string>;
}

/** Runs the task after pending replies were written and pending requests were read. */
export type NextTurn = (task: () => void) => void;
