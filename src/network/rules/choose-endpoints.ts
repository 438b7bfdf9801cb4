/** Decides which endpoints traffic goes to, by readiness, traffic policy and topology. */
import type { Endpoint } from './endpoints.ts';
import type { NodeFacts } from './rule-set.ts';

export interface ChosenEndpoints {
  /** Endpoints for the traffic policy Cluster. */
  readonly cluster: readonly Endpoint[];
  /** Endpoints for the traffic policy Local. */
  readonly local: readonly Endpoint[];
}

type Facts = Pick<NodeFacts, 'name' | 'zone'>;

/** Chooses ready endpoints; when there are none, those that are terminating and still serve. */
export function chooseEndpoints(endpoints: readonly Endpoint[], node: Facts): ChosenEndpoints {
  const isPreferred = topologyOf(endpoints, node);
  const cluster = endpoints.filter((endpoint) => endpoint.isReady && isPreferred(endpoint));
  const local = endpoints.filter(({ isLocal }) => isLocal);
  const localReady = local.filter(({ isReady }) => isReady);
  return {
    cluster: cluster.length > 0 ? cluster : endpoints.filter(stillServes),
    local: localReady.length > 0 ? localReady : local.filter(stillServes),
  };
}

/** Reports whether any client in the cluster can use the endpoint. */
export function isUsable(endpoint: Endpoint): boolean {
  return endpoint.isReady || stillServes(endpoint);
}

function stillServes({ isServing, isTerminating }: Endpoint): boolean {
  return isServing && isTerminating;
}

/**
 * Returns a test for preferred endpoints. Hints count only if all ready endpoints have them and one of them is for this
 * node, or else for its zone, so that a node is never left without endpoints.
 */
function topologyOf(endpoints: readonly Endpoint[], { name, zone }: Facts): (endpoint: Endpoint) => boolean {
  const ready = endpoints.filter(({ isReady }) => isReady);
  const isForNode = ({ nodes }: Endpoint) => nodes.includes(name);
  if (ready.every(({ nodes }) => nodes.length > 0) && ready.some(isForNode)) return isForNode;
  const isForZone = ({ zones }: Endpoint) => zone !== undefined && zones.includes(zone);
  if (ready.every(({ zones }) => zones.length > 0) && ready.some(isForZone)) return isForZone;
  return () => true;
}
