import type { User } from '../../../../api/user.ts';
import type { Verb } from '../../../../kinds/kind.ts';
import { attributesOfPath } from '../../../access/authz/attributes.ts';
import type { Exchange } from '../../exchange.ts';
import { type Route, type Routes, splitPath, verbOf } from '../route/route.ts';
import type { Admit } from './admit.ts';
import type { RequestLifecycle } from './request-lifecycle.ts';
import type { RequestTarget } from './request-target.ts';

export interface RoutedVerb {
  readonly route: Route;
  readonly verb: Verb;
}

interface FindRouteOptions {
  readonly routes: Routes;
  readonly admit: Admit;
}

/**
 * Finds the objects of a request. Returns undefined when its path is not one of objects, and the user may see what is
 * at that path. Users learn that a path does not exist only if they could see it if it did.
 */
export function findRouteStage({ routes, admit }: FindRouteOptions) {
  return (request: ApiRequest): RoutedVerb | undefined | Promise<RoutedVerb | undefined> => {
    const { exchange, target } = request;
    try {
      const route = routes.find(target.path, exchange.url);
      if (route) return { route, verb: verbOf(exchange.method, route, target.queryOf(route).watch) };
    } catch (error) {
      const admitted = admitPath(request);
      if (!admitted) throw error;
      return admitted.then(() => {
        throw error;
      });
    }
    return admitPath(request)?.then(() => undefined);
  };

  function admitPath({ exchange, target, user, lifecycle }: ApiRequest): Promise<void> | undefined {
    const { path, query } = target;
    const parts = splitPath(path);
    return admit(lifecycle, attributesOfPath({ user, method: exchange.method, path, parts, watch: query.watch }));
  }
}

/** A request whose user is known. */
export interface ApiRequest {
  readonly exchange: Exchange;
  readonly target: RequestTarget;
  /** The user of the request: its sender, or the user that the sender impersonates. */
  readonly user: User;
  readonly lifecycle: RequestLifecycle;
}
