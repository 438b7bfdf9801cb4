/** Reaches webhooks: by URL, or through the pods of a Service. */
import type { Duplex } from 'node:stream';
import { ApiError } from '../../../base/errors.ts';
import type { WebhookClientConfig } from '../../../kinds/groups/admissionregistration/webhook-client.ts';
import { Endpoints } from '../../../kinds/groups/core/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { Core } from '../../core.ts';
import { dialAddress, type ServiceEndpoint, serviceEndpoints } from '../../nodes/service-endpoints.ts';
import { createPost, type Post } from '../../webhooks/post.ts';
import { objectNamed } from '../lookup.ts';

/** Large enough for a patch that replaces the largest object. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** A webhook as messages name it, and how to post to it. */
export interface WebhookConnection {
  readonly url: string;
  readonly post: Post;
}

export function connectionTo(core: Core, client: WebhookClientConfig, timeoutSeconds: number): WebhookConnection {
  const { service, url: given = '', caBundle } = client;
  const query = `timeout=${timeoutSeconds}s`;
  const ca = caBundle ? { ca: Buffer.from(caBundle, 'base64').toString() } : {};
  const common = { ...ca, maxResponseBytes: MAX_RESPONSE_BYTES };
  if (!service) {
    const url = `${given}?${query}`;
    return { url, post: createPost({ ...common, server: url }) };
  }
  const { namespace, name, path = '', port } = service;
  const host = `${name}.${namespace}.svc`;
  const url = `https://${host}:${port}${path.startsWith('/') ? path : `/${path}`}?${query}`;
  const connect = () => dialService(core, { namespace, name, port });
  return { url, post: createPost({ ...common, server: url, tlsServerName: host, connect }) };
}

interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Connects to one of the ready endpoints, chosen at random. */
async function dialService(core: Core, { namespace, name, port }: ServicePort): Promise<Duplex> {
  const service = objectNamed(core, Service, namespace, name);
  if (!service) throw new ApiError('NotFound', `service ${JSON.stringify(name)} not found`);
  const wanted = service.spec.ports?.find((each) => each.port === port);
  if (!wanted) {
    throw new ApiError('ServiceUnavailable', `no service port ${port} found for service ${JSON.stringify(name)}`);
  }
  const endpoints = objectNamed(core, Endpoints, namespace, name);
  const choices = endpoints ? serviceEndpoints(endpoints, wanted.name ?? '') : [];
  if (choices.length === 0) {
    throw new ApiError('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(name)}`);
  }
  return dial(core, choices[core.random.int(choices.length)]!);
}

/** An endpoint that is no pod of a node is reached from here. */
async function dial(core: Core, endpoint: ServiceEndpoint): Promise<Duplex> {
  if (!endpoint.node) return dialAddress(endpoint);
  return core.nodes.dial({ ...endpoint, signal: undefined });
}
