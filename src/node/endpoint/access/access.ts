/** Decides who may do what at the endpoint, in the words of kubelet. */

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { ApiError } from '../../../api/errors.ts';
import { SERVER_USER } from '../../../api/machine-upgrade.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { type EndpointUser, Reviews } from './reviews.ts';

export interface AccessOptions {
  /** Acts as the node. */
  readonly client: Client;
  readonly clock: Clock;
  readonly node: string;
}

export type Access = (request: IncomingMessage, path: string) => Promise<void>;

/** Returns what rejects with an ApiError unless the client of a request is known and has the right. */
export function accessOf({ client, clock, node }: AccessOptions): Access {
  const reviews = new Reviews(client, clock, node);
  return async (request, path) => {
    const user = await userOf(request, reviews, clock.now());
    if (!user) throw new ApiError('Unauthorized', 'Unauthorized');
    const right = rightFor(request.method ?? '', path);
    if (!right) throw new ApiError('MethodNotAllowed', 'Method Not Allowed');
    const { verb, subresources } = right;
    for (const subresource of subresources) {
      if (await allowed(reviews, user, { verb, subresource })) return;
    }
    const asked = `user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}]`;
    throw new ApiError('Forbidden', `Forbidden (${asked})\n`);
  };
}

/** Throws a Forbidden unless the client shows the certificate with which servers of the cluster reach agents. */
export function requireServer({ socket }: IncomingMessage, now: number): void {
  const user = socket instanceof TLSSocket ? certifiedUser(socket, now) : undefined;
  if (user?.name === SERVER_USER.name && user.groups.includes(SERVER_USER.group)) return;
  throw new ApiError('Forbidden', `Forbidden (user=${user?.name ?? 'without certificate'}: for servers only)\n`);
}

async function allowed(
  reviews: Reviews,
  user: EndpointUser,
  { verb, subresource }: { readonly verb: string; readonly subresource: string },
): Promise<boolean> {
  try {
    return await reviews.isAllowed(user, verb, subresource);
  } catch (cause) {
    const asked = `user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource}`;
    throw new ApiError('InternalError', `Authorization error (${asked})`, { cause });
  }
}

/** The user of the client's certificate, or else of its token. */
async function userOf(request: IncomingMessage, reviews: Reviews, now: number): Promise<EndpointUser | undefined> {
  const { socket } = request;
  const certified = socket instanceof TLSSocket ? certifiedUser(socket, now) : undefined;
  if (certified) return certified;
  const token = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  try {
    return await reviews.userOf(token);
  } catch (cause) {
    throw new ApiError('Unauthorized', 'Unauthorized', { cause });
  }
}

/** A connection can outlive the certificate that it was opened with. */
function certifiedUser(socket: TLSSocket, now: number): EndpointUser | undefined {
  if (!socket.authorized) return undefined;
  const { subject, valid_to: end } = socket.getPeerCertificate();
  const name = listOf(subject?.CN).at(-1);
  if (!name || !(Date.parse(end) > now)) return undefined;
  return { name, groups: [...listOf(subject.O), 'system:authenticated'] };
}

/** An attribute that occurs several times is an array, although the types do not say so. */
function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : [value].flat();
}

/** A right that a request needs. The resource is `nodes`, the name that of the node. */
interface Right {
  readonly verb: string;
  /** One of them is enough. */
  readonly subresources: readonly string[];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  // A connection to a pod of the node.
  CONNECT: 'create',
};

/** Rights of paths and of everything below them. Paths that are not here need `proxy`. */
const BELOW: readonly (readonly [path: string, subresources: readonly string[]])[] = [
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
  ['/stats', ['stats']],
  ['/metrics', ['metrics']],
  ['/logs', ['log']],
];

/** `path` has no query. Returns undefined for methods that nothing here has. */
function rightFor(method: string, path: string): Right | undefined {
  if (!Object.hasOwn(VERBS, method)) return undefined;
  const verb = VERBS[method]!;
  const found = BELOW.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return { verb, subresources: found?.[1] ?? ['proxy'] };
}
