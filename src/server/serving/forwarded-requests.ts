/**
 * Aggregated APIs for clients in the same process: what these send is passed on to the server behind an APIService, as the
 * user of the client. Like direct calls, such requests are authorized as the same ones over HTTP are, and not audited.
 */

import { noSuchPath } from '../../api/errors.ts';
import type { User } from '../../api/user.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import { attributesOfPath } from '../access/authz/attributes.ts';
import type { Authorizer } from '../access/authz/authorizer.ts';
import { requireAccess } from '../access/authz/require-access.ts';
import type { ForwardedRequest, ForwardedResponse } from './backend.ts';
import type { BackendRegistry } from './backends/backend-registry.ts';
import { splitPath } from './http/route/path-segments.ts';
import { findProxy } from './http/route/route.ts';

/** Resolves when the response has begun. Rejects with an ApiError, Forbidden among them. */
export type Forward = (request: ForwardedRequest) => Promise<ForwardedResponse>;

interface ForwardOptions {
  readonly backends: BackendRegistry;
  readonly authorizer: Authorizer;
  /** Is told what runs. */
  readonly monitor: WorkMonitor;
}

/** Returns the way to aggregated APIs for each user. */
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
