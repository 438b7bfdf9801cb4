import type { User } from '../../../../api/user.ts';
import type { Exchange } from '../../exchange.ts';
import type { RequestLifecycle } from './request-lifecycle.ts';
import type { RequestTarget } from './request-target.ts';

/** A request whose user is known. */
export interface ApiRequest {
  readonly exchange: Exchange;
  readonly target: RequestTarget;
  /** The user of the request: its sender, or the user that the sender impersonates. */
  readonly user: User;
  readonly lifecycle: RequestLifecycle;
}
