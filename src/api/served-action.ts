import type { UpgradeRequest } from './machine-upgrade.ts';
import type { User } from './user.ts';

/** A path and everything below it, which answers with JSON. */
export interface ServedTree {
  readonly root: string;
  /** Called for users who may use the method on the path. Rejects with an ApiError. */
  answer(request: TreeRequest): Promise<object>;
}

interface TreeRequest extends UpgradeRequest {
  readonly user: User;
}

/** A path that is neither an object nor a document: clients POST to it without a body, and the answer depends on who they are. */
export interface ServedAction {
  readonly path: string;
  /** Called for users who may `post` to the path. Rejects with an ApiError. */
  perform(user: User): Promise<object>;
}
