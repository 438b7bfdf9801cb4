/** Writes the pods of a service into EndpointSlices of at most a hundred endpoints, with their conditions. */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenPod, SeenService } from '../../../api/seen-objects.ts';
import { addAll } from '../../../base/collections/add-all.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { type IpFamily, ipFamily } from '../../../kinds/shapes/meta/addresses/ip-address.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { type Plan, remove } from '../../loop/plan.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { podsByNode } from '../../shared/pods/pod-indexes.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { identityOf, MAX_LISTED_PORTS, type PodPorts, portMapping } from './pod-endpoint.ts';
import { addressesOf, familiesOf, isManagedByOthers, labelsFrom, podsBehindServices, podsOf } from './service-pods.ts';
import {
  type EndpointGroup,
  MANAGED_BY,
  pack,
  SERVICE_NAME,
  type Slice,
  type SliceEndpoint,
  slicePorts,
  slicesManagedBy,
  slicesOf,
} from './slice-packing.ts';
import { triggerTime, withTriggerTime } from './trigger-time.ts';

const NAME = 'endpointslice-controller.k8s.io';
const ZONE = 'topology.kubernetes.io/zone';
const MAX_ENDPOINTS_PER_SLICE = 100;

export const endpointSliceController: Controller = defineController<Service>({
  name: 'endpoint-slice',
  account: 'endpointslice-controller',
  watches: Service,
  also: [
    podsBehindServices,
    slicesManagedBy(NAME),
    related(
      Node,
      ({ metadata }, world) =>
        world
          .of(Pod)
          .by(podsByNode, metadata.name ?? '')
          .flatMap((pod) => podsBehindServices.keysOf(pod, world)),
      (node, old) => node.metadata.labels?.[ZONE] === old.metadata.labels?.[ZONE],
    ),
  ],
  plan: planEndpointSlices,
});

export function* planEndpointSlices(
  service: SeenService | undefined,
  world: Pick<Snapshot, 'of' | 'key' | 'pace'>,
): DividedWork<Plan> {
  const slices = slicesOf(world, NAME);
  // Slices of a deleted service are left to the garbage collector. None are created for one that is being deleted.
  if (!service || service.metadata.deletionTimestamp) return [];
  if (service.spec.type === 'ExternalName') return slices.map((slice) => remove(EndpointSlice, slice));
  if (isManagedByOthers(service)) return [];
  const [own, others] = partition(slices, (slice) => isOwnedBy(slice, service));
  const pods = podsOf(service, world, true);
  const groups: EndpointGroup[] = [];
  for (const family of familiesOf(service)) addAll(groups, yield* groupsOf(service, { pods, family, world }));
  const time =
    own.length > 0 ? triggerTime(endpointsIn(own), endpointsIn(groups), pods) : service.metadata.creationTimestamp;
  const packing = {
    limit: MAX_ENDPOINTS_PER_SLICE,
    pace: world.pace,
    sliceFor: (_: EndpointGroup, old: Slice | undefined) => sliceFor(service, old, time),
  };
  return [...(yield* pack(groups, own, packing)), ...others.map((slice) => remove(EndpointSlice, slice))];
}

interface ServicePods {
  readonly pods: readonly SeenPod[];
  readonly family: IpFamily;
  readonly world: Listers & { readonly pace: Pace };
}

/** Groups endpoints by the ports of their pods. A service without pods has one empty slice. */
function* groupsOf(service: SeenService, { pods, family, world }: ServicePods): DividedWork<EndpointGroup[]> {
  const portsOf = portMapping(service);
  const groups = new Map<PodPorts, SliceEndpoint[]>();
  for (const pod of pods) {
    if (world.pace.isSpent()) yield;
    const addresses = addressesOf(pod).filter((each) => ipFamily(each) === family);
    if (addresses.length === 0) continue;
    const node = world.of(Node).get(pod.spec.nodeName ?? '');
    if (!node && !service.spec.publishNotReadyAddresses) continue;
    const found = portsOf(pod);
    if (!found) continue;
    const endpoints = getOrInsert(groups, found, () => []);
    endpoints.push(endpointOf(service, pod, { addresses, zone: node?.metadata.labels?.[ZONE] }));
  }
  if (groups.size === 0) return [{ addressType: family, ports: [], endpoints: [] }];
  return limited(
    [...groups].map(([{ ports }, endpoints]) => ({
      addressType: family,
      ports: slicePorts(ports),
      endpoints,
    })),
  );
}

/** Leaves out endpoints beyond the limit for all slices together: every slice lists its ports. */
function limited(groups: readonly EndpointGroup[]): EndpointGroup[] {
  let left = MAX_LISTED_PORTS;
  return groups.flatMap((group) => {
    const perSlice = Math.max(1, group.ports.length);
    const endpoints = group.endpoints.slice(0, Math.floor(left / perSlice) * MAX_ENDPOINTS_PER_SLICE);
    left -= perSlice * Math.ceil(endpoints.length / MAX_ENDPOINTS_PER_SLICE);
    return endpoints.length > 0 ? [{ ...group, endpoints }] : [];
  });
}

function endpointOf(
  service: SeenService,
  pod: SeenPod,
  { addresses, zone }: { readonly addresses: readonly string[]; readonly zone: string | undefined },
): SliceEndpoint {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses || (serving && !terminating);
  const hints = ready ? hintsOf(service, { zone, nodeName: pod.spec.nodeName }) : undefined;
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...identityOf(pod, service),
    ...(zone ? { zone } : {}),
    ...(hints ? { hints } : {}),
  };
}

/** Returns topology hints if the service asks for traffic to stay close. */
function hintsOf(
  { spec }: SeenService,
  { zone, nodeName }: { readonly zone: string | undefined; readonly nodeName: string | undefined },
): SliceEndpoint['hints'] {
  if (!spec.trafficDistribution) return undefined;
  const forNodes = spec.trafficDistribution === 'PreferSameNode' && nodeName ? [{ name: nodeName }] : undefined;
  if (!zone && !forNodes) return undefined;
  return { forZones: zone ? [{ name: zone }] : undefined, forNodes };
}

function sliceFor(service: SeenService, old: Slice | undefined, time: string | undefined): Draft<EndpointSlice> {
  const { name = '', namespace } = service.metadata;
  const annotations = withTriggerTime(old?.metadata.annotations, time);
  const labels = { ...labelsFrom(service), [SERVICE_NAME]: name, [MANAGED_BY]: NAME };
  if (old) return { ...old, metadata: { ...old.metadata, labels, annotations } } as Draft<EndpointSlice>;
  const ownerReferences = [controllerReference(service, Service)];
  return { metadata: { generateName: `${name}-`, namespace, labels, annotations, ownerReferences } };
}

function isOwnedBy({ metadata }: Slice, service: SeenService): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) ?? false;
}

/** The published state of each pod. */
function endpointsIn(parts: readonly { readonly endpoints: readonly SliceEndpoint[] }[]): ReadonlyMap<string, unknown> {
  const out = new Map<string, unknown>();
  for (const { endpoints } of parts) {
    for (const { targetRef, conditions } of endpoints) out.set(targetRef?.uid ?? '', conditions);
  }
  return out;
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((each) => !isFirst(each))];
}
