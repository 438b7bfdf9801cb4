/** Connects to webhooks: by URL, or through the pods of a Service. */
import { isIP } from 'node:net';
import { type DialAllowance, type DialGuard, namesLoopback } from '../../../../base/sockets/dial/dial-guard.ts';
import type { WebhookClientConfig } from '../../../../kinds/groups/extension/admissionregistration/webhook-client.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { dialService } from '../../../outbound/services/dial-service.ts';
import { createPost, type Endpoint, type Post } from '../../../outbound/webhooks/post.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

/** Limit for a response, large enough for a patch that replaces the largest object. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** A webhook's name for messages, and the function that posts to it. */
export interface WebhookConnection {
  readonly url: string;
  readonly post: Post;
}

export function connectionTo(core: Ports, client: WebhookClientConfig, timeoutSeconds: number): WebhookConnection {
  const { service, url: given = '', caBundle } = client;
  const query = `timeout=${timeoutSeconds}s`;
  const ca = caBundle ? { ca: Buffer.from(caBundle, 'base64').toString() } : {};
  const common = { ...ca, maxResponseBytes: MAX_RESPONSE_BYTES };
  if (!service) {
    const url = `${given}?${query}`;
    return { url, post: postTo(core.dialGuard, { ...common, server: url }) };
  }
  const { namespace, name, path = '', port } = service;
  const host = `${name}.${namespace}.svc`;
  const url = `https://${host}:${port}${path.startsWith('/') ? path : `/${path}`}?${query}`;
  const connect = () => dialService(core, { namespace, name, port });
  return { url, post: createPost({ ...common, server: url, tlsServerName: host, connect }) };
}

/** Returns a function that posts to a URL, whose host name may resolve to any address. */
function postTo(guard: DialGuard, endpoint: Endpoint): Post {
  const { hostname } = new URL(endpoint.server);
  const allowance = allowanceFor(hostname);
  const post = createPost({ ...endpoint, lookup: guard.lookup(allowance) });
  return async (json, signal) => {
    guard.checkHost(hostname, allowance);
    return post(json, signal);
  };
}

/**
 * Returns the special addresses that a host may name. Administrators write these objects, so `localhost` or an address
 * may name this machine, but other names must not resolve to it.
 */
function allowanceFor(hostname: string): DialAllowance {
  if (namesLoopback(hostname)) return { loopback: true };
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(address) === 0 ? {} : { own: true };
}
