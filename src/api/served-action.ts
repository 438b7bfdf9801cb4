import type { User } from './user.ts';

/** A path and everything below it, which answers with JSON. */
export interface ServedTree {
  readonly root: string;
  /** Called for users who may use the method on the path. Rejects with an ApiError. */
  answer(request: TreeRequest): Promise<object>;
}

export interface TreeRequest {
  readonly user: User;
  readonly method: string;
  /** From the root on. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly userAgent?: string | undefined;
  readonly requestId?: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
  /** Rejects when it is larger than the bodies of objects may be. */
  body(): Promise<Buffer>;
}

/** A path that is neither an object nor a document: clients POST to it without a body, and the answer depends on who they are. */
export interface ServedAction {
  readonly path: string;
  /** Called for users who may `post` to the path. Rejects with an ApiError. */
  perform(user: User): Promise<object>;
}
