/** Announces the addresses of nodes for load balancers, and reports ports of services that are taken on nodes. */
import type { SeenNode, SeenService } from '../../../api/seen-objects.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { portsInUse } from '../../../kinds/groups/core/node/ports-in-use.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { ipFamily } from '../../../kinds/shapes/meta/addresses/ip-address.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { event, type Plan, patchStatus } from '../../loop/plan.ts';
import { type Condition, holds, withConditions, withoutCondition } from '../../shared/conditions.ts';
import { SERVICE_NAME } from '../endpoints/slice-packing.ts';

const EXCLUDED_NODE = 'node.kubernetes.io/exclude-from-external-load-balancers';
const SIMULATED = 'simulated://';

export interface LoadBalancerOptions {
  /** The port of the API server, which a node may have under the same address; undefined: none. */
  readonly serverPort?: number;
}

const PORT_IN_USE = 'PortInUse';

/** Services that take ports of nodes. */
function onNodes({ spec }: SeenService): readonly string[] {
  return spec.type === 'LoadBalancer' || spec.type === 'NodePort' ? ['yes'] : [];
}

const keysOnNodes = ({ of }: Listers) =>
  of(Service)
    .by(onNodes, 'yes')
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

export const loadBalancerController = (options: LoadBalancerOptions): Controller =>
  defineController<Service>({
    name: 'load-balancer',
    account: 'service-controller',
    watches: Service,
    also: [
      related(
        Node,
        (_, world) => keysOnNodes(world),
        (node, old) => factsOf(node) === factsOf(old),
      ),
      related(EndpointSlice, ({ metadata }) => {
        const service = metadata.labels?.[SERVICE_NAME];
        return service ? [`${metadata.namespace}/${service}`] : [];
      }),
    ],
    plan: (service, world, now) => planLoadBalancer(service, world, { ...options, now }),
  });

export function planLoadBalancer(
  service: SeenService | undefined,
  { of }: Pick<Snapshot, 'of'>,
  { serverPort, now }: LoadBalancerOptions & { readonly now: Date },
): Plan {
  if (!service || service.metadata.deletionTimestamp) return [];
  const nodes = of(Node).list().filter(isReal);
  if (nodes.length === 0) return [];
  const isServers = (service.spec.ports ?? []).some(({ port, protocol }) => port === serverPort && protocol === 'TCP');
  const isRejected = isServers && isBalanced(service);
  const status = {
    ...announcement(service, nodes, isRejected ? [] : entriesFor(service, nodes, of)),
    ...conditionsOf(service, nodes, now),
  };
  const message = `Port ${serverPort} belongs to the API server: the addresses of nodes are not announced for it`;
  return [
    ...(Object.keys(status).length === 0
      ? []
      : [patchStatus(Service, service, { type: 'merge', changes: { status } })]),
    ...(isRejected ? [event(service, 'Warning', PORT_IN_USE, message)] : []),
  ];
}

interface IngressEntry {
  readonly ip?: string | undefined;
  readonly ports?: readonly { readonly port?: number; readonly error?: string }[] | undefined;
}

function isBalanced({ spec }: SeenService): boolean {
  return spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;
}

/** Returns the status change to announce; none when another load balancer is responsible. */
function announcement(
  { spec, status }: SeenService,
  nodes: readonly SeenNode[],
  ingress: readonly IngressEntry[],
): object {
  if (spec.loadBalancerClass !== undefined) return {};
  const announced = status.loadBalancer?.ingress ?? [];
  // Other addresses were written by another program, and not because the service was a load balancer before.
  const known = new Set(nodes.flatMap(addressesOf));
  if (spec.type !== 'LoadBalancer' && !announced.every(({ ip }) => known.has(ip ?? ''))) return {};
  return textOf(announced.map(entryText)) === textOf(ingress.map(entryText)) ? {} : { loadBalancer: { ingress } };
}

const entryText = ({ ip, ports = [] }: IngressEntry) =>
  `${ip}:${ports.map(({ port, error = '' }) => `${port} ${error}`).join()}`;

/** Condition that names ports which nodes do not serve; present only while there are any. */
function conditionsOf(service: SeenService, nodes: readonly SeenNode[], now: Date): object {
  const { spec, status } = service;
  const present = (status.conditions ?? []) as readonly Condition[];
  const messages = nodes.flatMap((node) => {
    const inUse = new Set(portsInUse(node));
    const names = (spec.ports ?? []).flatMap(({ port, nodePort, protocol }) => [
      ...(isBalanced(service) ? [`${protocol}/${port}`] : []),
      ...(nodePort ? [`${protocol}/${nodePort}`] : []),
    ]);
    const taken = names.filter((name) => inUse.has(name));
    return taken.length === 0 ? [] : [`${taken.join(', ')} of node ${node.metadata.name}`];
  });
  const message = `Something else listens on ${messages.sort().join('; ')}`;
  const wanted =
    messages.length === 0
      ? withoutCondition(present, PORT_IN_USE)
      : withConditions(present, [{ type: PORT_IN_USE, status: 'True', reason: 'HostPortInUse', message }], now);
  return JSON.stringify(wanted) === JSON.stringify(present) ? {} : { conditions: wanted };
}

/** The nodes that serve it: all of them, or those with endpoints when traffic must stay on the node. */
function entriesFor(service: SeenService, nodes: readonly SeenNode[], of: Snapshot['of']): readonly IngressEntry[] {
  const { metadata, spec } = service;
  if (!isBalanced(service)) return [];
  const families = spec.ipFamilies ?? ['IPv4'];
  const serving = spec.externalTrafficPolicy === 'Local' ? nodesWithEndpoints(metadata, of) : undefined;
  const entries = nodes
    .filter((node) => serving?.has(node.metadata.name ?? '') ?? true)
    .flatMap((node) => {
      const ports = portsAt(node, spec.ports ?? []);
      if (ports?.every(({ error }) => error !== undefined)) return [];
      return addressesOf(node)
        .filter((address) => families.some((family) => family === ipFamily(address)))
        .map((ip) => [ip, { ip, ipMode: 'VIP', ports }] as const);
    });
  return [...new Map(entries).values()].sort((a, b) => (a.ip < b.ip ? -1 : 1));
}

type ServicePorts = NonNullable<SeenService['spec']['ports']>;

/** Returns the status of each port when the node does not serve all of them. */
function portsAt(node: SeenNode, ports: ServicePorts) {
  const inUse = new Set(portsInUse(node));
  const isInUse = ({ port, protocol }: ServicePorts[number]) => inUse.has(`${protocol}/${port}`);
  if (!ports.some(isInUse)) return undefined;
  return ports.map((each) => ({
    port: each.port,
    protocol: each.protocol,
    error: isInUse(each) ? PORT_IN_USE : undefined,
  }));
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

/** Returns external addresses if the node has any. Nodes that are not ready, simulated or excluded have none. */
function addressesOf(node: SeenNode): readonly string[] {
  const { metadata, status } = node;
  if (!holds(node, 'Ready') || !isReal(node) || metadata.labels?.[EXCLUDED_NODE] !== undefined) return [];
  const ofType = (wanted: string) =>
    (status.addresses ?? []).filter(({ type }) => type === wanted).map(({ address }) => address);
  const external = ofType('ExternalIP');
  return external.length > 0 ? external : ofType('InternalIP');
}

/** Summary of the node's fields that plans depend on. */
const factsOf = (node: SeenNode) => `${textOf(addressesOf(node))} ${portsInUse(node).join()}`;

const textOf = (addresses: readonly string[]) => [...addresses].sort().join(' ');
