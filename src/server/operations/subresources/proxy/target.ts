import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, badRequest, notFound } from '../../../../api/errors.ts';
import { Node } from '../../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { Endpoints } from '../../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../../kinds/groups/core/service/service.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import { type EndpointAddress, serviceEndpoints } from '../../../outbound/nodes/service-endpoints.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { nodeFor } from '../pods/pod-stream.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

export interface ProxyTarget {
  readonly scheme: 'http' | 'https';
  /** The `Host` of the request. */
  readonly host: string;
  connect(signal: AbortSignal): Promise<Duplex>;
}

interface ProxyName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number, or the name of a port of a service; empty if absent. */
  readonly port: string;
}

/** Resolves `[scheme:]name[:port]`. Throws an ApiError. */
export async function targetOf(core: Ports, { resource: { kind }, call }: ApiRequest): Promise<ProxyTarget> {
  const named = parseName(call.name ?? '');
  if (!named) throw badRequest(`invalid ${kind.kind.toLowerCase()} request ${JSON.stringify(call.name)}`);
  await core.cache.fresh();
  const { namespace = '' } = call;
  if (kind === Pod) return podTarget(core, found(core, Pod, namespace, named.name), named);
  if (kind === Service) return serviceTarget(core, found(core, Service, namespace, named.name), named, call.name!);
  return nodeTarget(core, found(core, Node, '', named.name), named);
}

/** Parses `name`, `name:port`, `scheme:name:` or `scheme:name:port`. */
function parseName(text: string): ProxyName | undefined {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !['http', 'https', ''].includes(scheme)) return undefined;
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}

function found<T extends KubeObject>(core: Ports, kind: Kind<T>, namespace: string, name: string): T {
  const object = core.cache.table(kind).get(namespace, name)?.hub(kind) as T | undefined;
  if (!object) throw notFound(kind, name);
  return object;
}

function podTarget(core: Ports, pod: Pod, { scheme, port }: ProxyName): ProxyTarget {
  const node = nodeFor(core, pod, 'proxy');
  const address = pod.status.podIP;
  if (!address) throw badRequest(NOT_ALLOWED);
  const [declared] = pod.spec.containers.flatMap(({ ports = [] }) => ports);
  return dialled(core, scheme, {
    node,
    address,
    port: portOf(port) ?? declared?.containerPort ?? DEFAULT_PORTS[scheme],
  });
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Chooses a ready endpoint at random. `id` is the name as the client wrote it. */
function serviceTarget(core: Ports, service: Service, { scheme, name, port }: ProxyName, id: string): ProxyTarget {
  const namespace = service.metadata.namespace ?? '';
  const portName = servicePortName(service, port);
  const endpoints = found(core, Endpoints, namespace, name);
  const choices = serviceEndpoints(endpoints, portName, (address) => isProxied(core, namespace, address));
  if (choices.length === 0) {
    const missing = JSON.stringify(endpoints.subsets?.length ? id : name);
    throw new ApiError('ServiceUnavailable', `no endpoints available for service ${missing}`);
  }
  const choice = choices[core.random.int(choices.length)]!;
  // Endpoints without a node are reached from this server. Parts of the cluster may run on this machine.
  if (choice.node === '') {
    const { address: host, port: number } = choice;
    const connect = (signal: AbortSignal) => core.dialGuard.connect({ host, port: number, signal }, { own: true });
    return { scheme, host: hostOf(choice), connect };
  }
  const why = core.nodes.rejection(choice.node, 'proxy');
  if (why !== undefined) throw badRequest(why);
  return dialled(core, scheme, choice);
}

/** Returns the name of a port given by name or number; of the only port when none is given. */
function servicePortName({ metadata, spec: { ports = [] } }: Service, port: string): string {
  if (port === '' && ports.length === 1) return ports[0]!.name ?? '';
  if (!/^\d+$/.test(port)) return port;
  const numbered = ports.find((each) => each.port === Number(port));
  if (numbered) return numbered.name ?? '';
  const message = `no service port ${port} found for service ${JSON.stringify(metadata.name)}`;
  throw new ApiError('ServiceUnavailable', message);
}

/** The namespace for services of cluster components outside pods: only administrators write Endpoints there. */
const SYSTEM_NAMESPACE = 'kube-system';

/** Reports whether an address is a pod's: else writing Endpoints would give access to all that the node reaches. */
function isProxied(core: Ports, namespace: string, { ip, targetRef }: EndpointAddress): boolean {
  if (!targetRef) return namespace === SYSTEM_NAMESPACE;
  if (targetRef.kind !== 'Pod' || targetRef.namespace !== namespace) return false;
  const pod = core.cache
    .table(Pod)
    .get(namespace, targetRef.name ?? '')
    ?.hub(Pod) as Pod | undefined;
  if (!pod) return false;
  return pod.status.podIP === ip || (pod.status.podIPs ?? []).some((each) => each.ip === ip);
}

/** The port that clients use for the kubelet. An agent may have another, or none if only this process reaches it. */
const KUBELET_PORT = 10_250;

/** Returns the agent's own endpoint, or another port of its machine. */
function nodeTarget(core: Ports, { metadata, status }: Node, { scheme, port }: ProxyName): ProxyTarget {
  const node = metadata.name ?? '';
  const why = core.nodes.rejection(node, 'proxy');
  if (why !== undefined) throw badRequest(why);
  const number = portOf(port);
  const address = status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? node;
  if (isIP(address) !== 0) checkAddress(core, address);
  const isAgent = number === KUBELET_PORT || number === status.daemonEndpoints?.kubeletEndpoint?.Port;
  if (number === undefined || isAgent) {
    return { scheme: 'http', host: node, connect: (signal) => core.nodes.endpoint(node, signal) };
  }
  return dialled(core, scheme, { node, address, port: number });
}

function dialled(
  core: Ports,
  scheme: ProxyTarget['scheme'],
  target: { readonly node: string; readonly address: string; readonly port: number },
): ProxyTarget {
  if (isIP(target.address) !== 0) checkAddress(core, target.address);
  return { scheme, host: hostOf(target), connect: (signal) => core.nodes.dial({ ...target, signal }) };
}

const NOT_ALLOWED = 'address not allowed';

/** Checks the address of a pod, which may be this machine's. Only the node's agent dials the node's own addresses. */
function checkAddress(core: Ports, address: string): void {
  if (core.dialGuard.refusalOf(address, { own: true })) throw badRequest(NOT_ALLOWED);
}

function hostOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function portOf(text: string): number | undefined {
  if (text === '') return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw badRequest(`invalid port ${JSON.stringify(text)}`);
  return port;
}
