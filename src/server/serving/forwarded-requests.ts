/**
 * Aggregated APIs for clients in the same process: requests are forwarded to the server behind an APIService, as the
 * user of the client. Like direct calls, they are authorized as over HTTP, and not audited.
 */
import { noSuchPath } from '../../api/errors.ts';
import type { User } from '../../api/user.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { attributesOfPath } from '../access/authz/attributes.ts';
import type { Authorizer } from '../access/authz/authorizer.ts';
import { requireAccess } from '../access/authz/forbidden-error.ts';
import type { ForwardedRequest, ForwardedResponse } from './backend.ts';
import type { BackendRegistry } from './backends/backend-registry.ts';
import { findProxy, splitPath } from './http/route/route.ts';

/** Forwards a request. Resolves when the response has begun. Rejects with an ApiError, including Forbidden. */
export type Forward = (request: ForwardedRequest) => Promise<ForwardedResponse>;

interface ForwardOptions {
  readonly backends: BackendRegistry;
  readonly authorizer: Authorizer;
  readonly monitor: WorkMonitor;
}

/** Returns a function that creates the forwarder of a user. */
export function forwardedRequests({ backends, authorizer, monitor }: ForwardOptions): (user: User) => Forward {
  return (user) => async (request) => {
    const { method, url } = request;
    monitor.begin({ work: 'component request', describe: () => ({ method, url, user: user.name }) });
    const [path = '', search = ''] = url.split('?', 2);
    const watch = new URLSearchParams(search).get('watch') === 'true';
    await requireAccess(authorizer, attributesOfPath({ user, method, path, parts: splitPath(path), watch }));
    const proxy = findProxy(path, backends);
    if (!proxy) throw noSuchPath();
    return proxy.forward({ ...request, user });
  };
}
