import type { User } from './user.ts';

/** A path that is neither an object nor a document: clients POST to it without a body, and the answer depends on who they are. */
export interface ServedAction {
  readonly path: string;
  /** Called for users who may `post` to the path. Rejects with an ApiError. */
  perform(user: User): Promise<object>;
}
