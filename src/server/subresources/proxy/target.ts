import type { Duplex } from 'node:stream';
import { ApiError, badRequest, notFound } from '../../../base/errors.ts';
import { Endpoints } from '../../../kinds/groups/core/endpoints.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { ApiRequest } from '../../api-request.ts';
import type { Core } from '../../core.ts';
import { serviceEndpoints } from '../../nodes/service-endpoints.ts';
import { nodeFor } from '../pods/pod-stream.ts';

/** Where a request is passed on to. */
export interface ProxyTarget {
  readonly scheme: 'http' | 'https';
  /** The `Host` of the request. */
  readonly host: string;
  connect(signal: AbortSignal): Promise<Duplex>;
}

interface ProxyName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number, or the name of a port of a service; empty if it is not said. */
  readonly port: string;
}

/** Finds what `[scheme:]name[:port]` stands for. Throws an ApiError. */
export async function targetOf(core: Core, { resource: { kind }, call }: ApiRequest): Promise<ProxyTarget> {
  const named = parseName(call.name ?? '');
  if (!named) throw badRequest(`invalid ${kind.kind.toLowerCase()} request ${JSON.stringify(call.name)}`);
  await core.cache.fresh();
  const { namespace = '' } = call;
  if (kind === Pod) return podTarget(core, found(core, Pod, namespace, named.name), named);
  if (kind === Service) return serviceTarget(core, found(core, Service, namespace, named.name), named);
  return nodeTarget(core, found(core, Node, '', named.name), named);
}

/** `name`, `name:port`, `scheme:name:` or `scheme:name:port`. */
function parseName(text: string): ProxyName | undefined {
  const parts = text.split(':');
  const [first = '', second = '', third = ''] = parts;
  if (parts.length === 1) return { scheme: 'http', name: first, port: '' };
  if (parts.length === 2) return { scheme: 'http', name: first, port: second };
  if (parts.length > 3 || (first !== 'http' && first !== 'https' && first !== '')) return undefined;
  return { scheme: first === 'https' ? 'https' : 'http', name: second, port: third };
}

function found<T extends KubeObject>(core: Core, kind: Kind<T>, namespace: string, name: string): T {
  const object = core.cache.table(kind).get(namespace, name)?.hub(kind) as T | undefined;
  if (!object) throw notFound(kind, name);
  return object;
}

function podTarget(core: Core, pod: Pod, { scheme, port }: ProxyName): ProxyTarget {
  const node = nodeFor(core, pod, 'proxy');
  const address = pod.status.podIP;
  if (!address) throw badRequest('address not allowed');
  const [declared] = pod.spec.containers.flatMap(({ ports = [] }) => ports);
  return dialled(core, scheme, {
    node,
    address,
    port: portOf(port) ?? declared?.containerPort ?? DEFAULT_PORTS[scheme],
  });
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** One of the ready endpoints, chosen at random. */
function serviceTarget(core: Core, service: Service, { scheme, name, port }: ProxyName): ProxyTarget {
  const ports = service.spec.ports ?? [];
  const wanted =
    port === '' && ports.length === 1
      ? ports[0]
      : ports.find((each) => each.name === port || String(each.port) === port);
  if (!wanted)
    throw new ApiError(
      'ServiceUnavailable',
      `no service port ${JSON.stringify(port)} found for service ${JSON.stringify(name)}`,
    );
  const choices = serviceEndpoints(found(core, Endpoints, service.metadata.namespace ?? '', name), wanted);
  if (choices.length === 0) {
    throw new ApiError('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(name)}`);
  }
  const choice = choices[core.random.int(choices.length)]!;
  const why = core.nodes.refusal(choice.node, 'proxy');
  if (why !== undefined) throw badRequest(why);
  return dialled(core, scheme, choice);
}

/** Clients that know kubelet name its port. An agent may have another one, or none where only this process reaches it. */
const KUBELET_PORT = 10_250;

/** The agent's own endpoint, or another port of its machine. */
function nodeTarget(core: Core, { metadata, status }: Node, { scheme, port }: ProxyName): ProxyTarget {
  const node = metadata.name ?? '';
  const why = core.nodes.refusal(node, 'proxy');
  if (why !== undefined) throw badRequest(why);
  const number = portOf(port);
  const isAgent = number === KUBELET_PORT || number === status.daemonEndpoints?.kubeletEndpoint?.Port;
  if (number === undefined || isAgent) {
    return { scheme: 'http', host: node, connect: (signal) => core.nodes.endpoint(node, signal) };
  }
  const address = status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? node;
  return dialled(core, scheme, { node, address, port: number });
}

function dialled(
  core: Core,
  scheme: ProxyTarget['scheme'],
  target: { readonly node: string; readonly address: string; readonly port: number },
): ProxyTarget {
  const { address, port } = target;
  const host = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  return { scheme, host, connect: (signal) => core.nodes.dial({ ...target, signal }) };
}

function portOf(text: string): number | undefined {
  if (text === '') return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw badRequest(`invalid port ${JSON.stringify(text)}`);
  return port;
}
