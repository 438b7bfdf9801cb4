import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import type { AgentAddress } from './agent-connection.ts';

/** In this order, as Kubernetes prefers them where the names of nodes need not be names of DNS. */
const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname'];

/** Where the agent of a node listens, as the node's status says. Undefined if it names no port. */
export function agentAddress(cache: Cache, name: string): AgentAddress | undefined {
  const status = cache.table(Node).get('', name)?.hub(Node).status;
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port;
  const addresses = status?.addresses ?? [];
  const [host] = ADDRESS_TYPES.flatMap((type) => addresses.filter((each) => each.type === type));
  return port && host ? { host: host.address, port } : undefined;
}
