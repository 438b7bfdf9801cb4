import { ApiError } from '../../../../api/errors.ts';
import type { User } from '../../../../api/user.ts';
import { attributesOfPath, RequestAttributes } from '../../../access/authz/attributes.ts';
import type { Attributes } from '../../../access/authz/authorizer.ts';
import type { Impersonation } from '../../../access/authz/impersonation/impersonation.ts';
import { requestedUser } from '../../../access/authz/impersonation/requested-user.ts';
import type { Exchange } from '../../exchange.ts';
import { splitPath } from '../route/path-segments.ts';
import { type Routes, verbOf } from '../route/route.ts';
import type { RequestTarget } from './request-target.ts';

export interface ImpersonateOptions {
  readonly impersonation: Impersonation;
  readonly routes: Routes;
}

/**
 * Determines the user of a request: its sender, unless its headers name another user whom the sender may impersonate.
 */
export function impersonateStage({ impersonation, routes }: ImpersonateOptions) {
  return (exchange: Exchange, target: RequestTarget, sender: User): User | Promise<User> => {
    const requested = requestedUser(exchange.headers);
    return requested ? impersonation.userFor(requested, attributesOf(exchange, target, sender)) : sender;
  };

  /** Returns the attributes of the request as if its sender made it directly. */
  function attributesOf({ method, url }: Exchange, target: RequestTarget, user: User): Attributes {
    const { path } = target;
    try {
      const route = routes.find(path, url);
      if (route) {
        const { watch, options } = target.queryOf(route);
        return new RequestAttributes({ user, verb: verbOf(method, route, watch) }, route, options);
      }
    } catch (error) {
      // A path that does not exist is reported later, to users who may know.
      if (!(error instanceof ApiError)) throw error;
    }
    return attributesOfPath({ user, method, path, parts: splitPath(path), watch: target.query.watch });
  }
}
