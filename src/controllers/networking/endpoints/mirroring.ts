/** Mirrors Endpoints that other clients manage into EndpointSlices, for consumers that read only slices. */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenEndpoints } from '../../../api/seen-objects.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { ipFamily } from '../../../kinds/shapes/meta/addresses/ip-address.ts';
import { type Controller, defineController, related, type Snapshot } from '../../loop/define.ts';
import { type Action, event, type Plan, remove } from '../../loop/plan.ts';
import { controllerReference } from '../../shared/ownership.ts';
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
import { type Address, packed, type Subset } from './subsets.ts';
import { TRIGGER_TIME } from './trigger-time.ts';

const NAME = 'endpointslicemirroring-controller.k8s.io';
const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER = 'control-plane.alpha.kubernetes.io/leader';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ENDPOINTS_PER_SLICE = 1000;

export const endpointSliceMirroringController: Controller = defineController<Endpoints>({
  name: 'endpoint-slice-mirroring',
  account: 'endpointslicemirroring-controller',
  watches: Endpoints,
  also: [related(Service, (service) => [keyOf(service)]), slicesManagedBy(NAME)],
  plan: planMirroring,
});

export function* planMirroring(
  endpoints: SeenEndpoints | undefined,
  world: Pick<Snapshot, 'of' | 'key' | 'pace'>,
): DividedWork<Plan> {
  const { name, namespace } = world.key;
  const slices = slicesOf(world, NAME);
  const service = world.of(Service).get(name, namespace);
  if (!endpoints || !service || service.spec.selector || !isMirrored(endpoints)) {
    return slices.map((slice) => remove(EndpointSlice, slice));
  }
  if (endpoints.metadata.deletionTimestamp) return [];
  const { pace } = world;
  const mirrored: Mirrored[] = [];
  for (const subset of (yield* packed(endpoints.subsets ?? [], pace)).subsets) {
    if (pace.isSpent()) yield;
    mirrored.push(mirror(subset));
  }
  const packing = {
    limit: MAX_ENDPOINTS_PER_SLICE,
    pace,
    sliceFor: (_: EndpointGroup, old: Slice | undefined) => sliceFor(endpoints, old),
  };
  const groups = yield* merged(
    mirrored.flatMap((each) => each.groups),
    pace,
  );
  const actions = yield* pack(groups, slices, packing);
  return [...actions, ...omissionEvents(endpoints, actions, mirrored)];
}

function isMirrored({ metadata }: SeenEndpoints): boolean {
  const isSkipped = /^(1|t|T|TRUE|true|True)$/.test(metadata.labels?.[SKIP] ?? '');
  return !isSkipped && metadata.annotations?.[LEADER] === undefined;
}

interface Mirrored {
  readonly groups: readonly EndpointGroup[];
  readonly invalid: number;
  readonly beyond: number;
}

/** Returns one group for each address family, with as many endpoints as a slice takes. */
function mirror({ addresses = [], notReadyAddresses = [], ports = [] }: Subset): Mirrored {
  const all = [
    ...addresses.map((address) => ({ address, ready: true })),
    ...notReadyAddresses.map((address) => ({ address, ready: false })),
  ];
  const valid = all.filter(({ address }) => ipFamily(address.ip) !== undefined);
  const kept = valid.slice(0, MAX_ENDPOINTS_PER_SLICE);
  const groups = (['IPv4', 'IPv6'] as const).flatMap((addressType) => {
    const endpoints = kept.filter(({ address }) => ipFamily(address.ip) === addressType).map(endpointOf);
    return endpoints.length > 0 ? [{ addressType, ports: slicePorts(ports), endpoints }] : [];
  });
  return { groups, invalid: all.length - valid.length, beyond: valid.length - kept.length };
}

function endpointOf({ address, ready }: { readonly address: Address; readonly ready: boolean }): SliceEndpoint {
  const { ip, hostname, nodeName, targetRef } = address;
  return {
    addresses: [ip],
    conditions: { ready },
    hostname: hostname || undefined,
    targetRef,
    nodeName: nodeName || undefined,
  };
}

/** Groups without ports can come from several subsets. */
function* merged(groups: readonly EndpointGroup[], pace: Pace): DividedWork<EndpointGroup[]> {
  const out = new Map<string, EndpointGroup & { readonly endpoints: SliceEndpoint[] }>();
  for (const group of groups) {
    if (pace.isSpent()) yield;
    const key = `${group.addressType} ${JSON.stringify(group.ports)}`;
    const known = getOrInsert(out, key, () => ({ ...group, endpoints: [] }));
    for (const endpoint of group.endpoints) known.endpoints.push(endpoint);
  }
  return [...out.values()];
}

function sliceFor(endpoints: SeenEndpoints, old: Slice | undefined): Draft<EndpointSlice> {
  const { name = '', namespace, labels: given, annotations: noted } = endpoints.metadata;
  const labels = { ...given, [SERVICE_NAME]: name, [MANAGED_BY]: NAME };
  const { [TRIGGER_TIME]: _, [LAST_APPLIED]: __, ...annotations } = noted ?? {};
  const ownerReferences = [controllerReference(endpoints, Endpoints)];
  const metadata = { labels, annotations, ownerReferences };
  if (old) return { ...old, metadata: { ...old.metadata, ...metadata } } as Draft<EndpointSlice>;
  return { metadata: { generateName: `${name}-`, namespace, ...metadata } };
}

/** Returns events about omitted addresses, only when something was written: omissions last until the object changes. */
function omissionEvents(endpoints: SeenEndpoints, actions: readonly Action[], mirrored: readonly Mirrored[]): Action[] {
  if (actions.length === 0) return [];
  const invalid = mirrored.reduce((total, each) => total + each.invalid, 0);
  const beyond = mirrored.reduce((total, each) => total + each.beyond, 0);
  const say = (reason: string, message: string) => event(endpoints, 'Warning', reason, message);
  return [
    ...(invalid > 0
      ? [say('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`)]
      : []),
    ...(beyond > 0
      ? [
          say(
            'TooManyAddressesToMirror',
            `A max of ${MAX_ENDPOINTS_PER_SLICE} addresses can be mirrored to EndpointSlices per Endpoints subset. ${invalid + beyond} addresses were skipped`,
          ),
        ]
      : []),
  ];
}
