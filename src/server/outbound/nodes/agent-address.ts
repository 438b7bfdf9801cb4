import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import type { AgentAddress } from './agent-connection.ts';

/** Address types in order of preference, as in Kubernetes where node names need not be DNS names. */
const ADDRESS_TYPES = ['InternalIP', 'ExternalIP', 'Hostname'];

/** Returns the agent's address according to the node's status; undefined if it has no port. */
export function agentAddress(cache: Cache, name: string): AgentAddress | undefined {
  const status = cache.table(Node).get('', name)?.hub(Node).status;
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port;
  const addresses = status?.addresses ?? [];
  const [host] = ADDRESS_TYPES.flatMap((type) => addresses.filter((each) => each.type === type));
  return port && host ? { host: host.address, port } : undefined;
}
