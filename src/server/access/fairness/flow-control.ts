/** The contract between the HTTP pipeline and flow control. */

import type { CallOptions } from '../../../api/call.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Attributes } from '../authz/authorizer.ts';
import type { Memo } from '../request-memos.ts';

export interface RequestClient {
  readonly isDisconnected: boolean;
}

export interface FlowControlRequest {
  readonly attributes: Attributes;
  /** Set for requests for objects: the memo of such requests, the kind, and the selection. */
  readonly memo: Memo | undefined;
  readonly kind: Kind | undefined;
  readonly options: CallOptions;
  readonly client: RequestClient;
}

/** Permission to serve a request, until it is released. */
export interface Seat {
  /** Alternating header names and values for the response. */
  readonly headers: readonly string[];
  /** Lets other requests use the seat while this one waits for its client. */
  pause(): void;
  resume(): void;
  /** Must be called exactly once. */
  release(): void;
}

export interface FlowControl {
  /** Takes a seat, synchronously if one is free: this runs for all requests. Throws or rejects with TooManyRequests. */
  admit(request: FlowControlRequest): Seat | Promise<Seat>;
  /** Delays an unauthenticated client whose request costs this many seats; undefined when no delay is needed. */
  delayUnauthenticated(address: string, cost: number): Promise<void> | undefined;
  /** Reports whether too many unauthenticated requests from this network wait for a response to get another one. */
  isOverloadedBy(address: string): boolean;
  /** Replaces the way to wait for the next turn. Default: the next turn of this thread's event loop. */
  setNextTurn?(nextTurn: NextTurn): void;
  /** Metrics, line by line. */
  lines(): Iterable<string>;
}

/** Runs the task after pending replies were written and pending requests were read. */
export type NextTurn = (task: () => void) => void;
