/** Announces the addresses of nodes for Services of type LoadBalancer. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { ipFamily } from '../../../kinds/shapes/meta/ip-address.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { event, type Plan, patchStatus } from '../../loop/plan.ts';
import { SERVICE_NAME } from '../endpoints/service-slices.ts';

type SeenService = DeepReadonly<Service>;
type SeenNode = DeepReadonly<Node>;

const EXCLUDED_NODE = 'node.kubernetes.io/exclude-from-external-load-balancers';
const SIMULATED = 'simulated://';

export interface LoadBalancerOptions {
  /** The port of the API server, which a node may have under the same address; undefined: none. */
  readonly serverPort?: number;
}

/** Services that name no class. */
function balanced({ spec }: SeenService): readonly string[] {
  return spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined ? ['yes'] : [];
}

const keysOfBalanced = ({ of }: Listers) =>
  of(Service)
    .by(balanced, 'yes')
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

export const loadBalancerController = (options: LoadBalancerOptions): Controller =>
  defineController<Service>({
    name: 'load-balancer',
    account: 'service-controller',
    watches: Service,
    also: [
      related(
        Node,
        (_, world) => keysOfBalanced(world),
        (node, old) => textOf(addressesOf(node)) === textOf(addressesOf(old)),
      ),
      related(EndpointSlice, ({ metadata }) => {
        const service = metadata.labels?.[SERVICE_NAME];
        return service ? [`${metadata.namespace}/${service}`] : [];
      }),
    ],
    plan: (service, world) => planLoadBalancer(service, world, options),
  });

export function planLoadBalancer(
  service: SeenService | undefined,
  { of }: Pick<Snapshot, 'of'>,
  { serverPort }: LoadBalancerOptions,
): Plan {
  if (!service || service.metadata.deletionTimestamp || service.spec.loadBalancerClass !== undefined) return [];
  const nodes = of(Node).list().filter(isReal);
  if (nodes.length === 0) return [];
  const announced = (service.status.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '');
  const announce = (addresses: readonly string[]): Plan => {
    if (textOf(announced) === textOf(addresses)) return [];
    const ingress = addresses.map((ip) => ({ ip, ipMode: 'VIP' }));
    return [patchStatus(Service, service, { type: 'merge', changes: { status: { loadBalancer: { ingress } } } })];
  };
  if (service.spec.type !== 'LoadBalancer') {
    // It was one before.
    const known = new Set(nodes.flatMap(addressesOf));
    return announced.every((address) => known.has(address)) ? announce([]) : [];
  }
  const isTaken = (service.spec.ports ?? []).some(({ port, protocol }) => port === serverPort && protocol === 'TCP');
  if (!isTaken) return announce(addressesFor(service, nodes, of));
  const message = `Port ${serverPort} belongs to the API server: the addresses of nodes are not announced for it`;
  return [...announce([]), event(service, 'Warning', 'PortInUse', message)];
}

/** The nodes that serve it: all of them, or those with endpoints when traffic must stay on the node. */
function addressesFor(
  { metadata, spec }: SeenService,
  nodes: readonly SeenNode[],
  of: Snapshot['of'],
): readonly string[] {
  const families = spec.ipFamilies ?? ['IPv4'];
  const serving = spec.externalTrafficPolicy === 'Local' ? nodesWithEndpoints(metadata, of) : undefined;
  const addresses = nodes
    .filter((node) => serving?.has(node.metadata.name ?? '') ?? true)
    .flatMap(addressesOf)
    .filter((address) => families.some((family) => family === ipFamily(address)));
  return [...new Set(addresses)].sort();
}

function nodesWithEndpoints(service: SeenService['metadata'], of: Snapshot['of']): ReadonlySet<string> {
  const slices = of(EndpointSlice)
    .list(service.namespace)
    .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME] === service.name);
  const ready = slices.flatMap(({ endpoints }) => endpoints.filter(({ conditions }) => conditions.ready !== false));
  return new Set(ready.flatMap(({ nodeName }) => nodeName ?? []));
}

function isReal({ status }: SeenNode): boolean {
  return !status.nodeInfo?.containerRuntimeVersion?.startsWith(SIMULATED);
}

/** External addresses, where a node has any. Nodes that are not ready, simulated or excluded have none. */
function addressesOf(node: SeenNode): readonly string[] {
  const { metadata, status } = node;
  const isReady = status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  if (!isReady || !isReal(node) || metadata.labels?.[EXCLUDED_NODE] !== undefined) return [];
  const ofType = (wanted: string) =>
    (status.addresses ?? []).filter(({ type }) => type === wanted).map(({ address }) => address);
  const external = ofType('ExternalIP');
  return external.length > 0 ? external : ofType('InternalIP');
}

const textOf = (addresses: readonly string[]) => [...addresses].sort().join(' ');
