import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { ApiError } from '../../../api/errors.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';
import { type ServiceEndpoint, serviceEndpoints } from '../nodes/service-endpoints.ts';
import type { Outbound } from '../ports.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Connects to a random ready endpoint, or the host of an ExternalName; users write both: not to this machine. */
export async function dialService(core: Ports, to: ServicePort, signal?: AbortSignal): Promise<Duplex> {
  const { namespace, name, port } = to;
  const service = objectNamed(core, Service, namespace, name);
  if (!service) throw new ApiError('NotFound', `service ${JSON.stringify(name)} not found`);
  const { type, externalName } = service.spec;
  if (type === 'ExternalName' && externalName) {
    return core.dialGuard.connect({ host: externalName, port, signal });
  }
  const choices = endpointsOf(core, to);
  if (!choices) {
    throw new ApiError('ServiceUnavailable', `no service port ${port} found for service ${JSON.stringify(name)}`);
  }
  if (choices.length === 0) {
    throw new ApiError('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(name)}`);
  }
  return dial(core, choices[core.random.int(choices.length)]!, signal);
}

/** Returns the ready endpoints of a port; undefined when the Service does not have the port. */
export function endpointsOf(
  core: Ports,
  { namespace, name, port }: ServicePort,
): readonly ServiceEndpoint[] | undefined {
  const wanted = objectNamed(core, Service, namespace, name)?.spec.ports?.find((each) => each.port === port);
  if (!wanted) return undefined;
  const endpoints = objectNamed(core, Endpoints, namespace, name);
  return endpoints ? serviceEndpoints(endpoints, wanted.name ?? '') : [];
}

/** Connects to an endpoint, directly if it is not a pod of a node. */
async function dial(core: Ports, endpoint: ServiceEndpoint, signal: AbortSignal | undefined): Promise<Duplex> {
  const { node, address, port } = endpoint;
  if (!node) return core.dialGuard.connect({ host: address, port, signal });
  // The node connects only to its own pods, which may have its network.
  const rejection = core.dialGuard.refusalOf(address, { own: true });
  if (rejection) throw rejection;
  return core.nodes.dial({ ...endpoint, signal });
}

/** Opens TLS connections on top of those of `connect`, and keeps them according to the options. */
export function tlsAgent(connect: () => Promise<Duplex>, tls: ConnectionOptions, options: AgentOptions) {
  const agent = new Agent(options);
  agent.createConnection = (_, done) => {
    connect().then((socket) => done?.(null, secured(socket, tls)), done as (error: Error) => void);
    return undefined;
  };
  return agent;
}

/** Wraps a socket in TLS, which has no half-open connections: a closed one would be kept, and lose a request. */
function secured(socket: Duplex, tls: ConnectionOptions): Duplex {
  socket.allowHalfOpen = false;
  return connectTls({ ...tls, socket });
}
