import type { User } from '../../../../api/user.ts';
import type { Exchange } from '../../exchange.ts';
import type { RequestLifecycle } from './request-lifecycle.ts';
import type { RequestTarget } from './request-target.ts';

/** A request whose user is known. */
export interface ApiRequest {
  readonly exchange: Exchange;
  readonly target: RequestTarget;
  /** Who the request is made as: its sender, or whom the sender impersonates. */
  readonly user: User;
  readonly lifecycle: RequestLifecycle;
}
