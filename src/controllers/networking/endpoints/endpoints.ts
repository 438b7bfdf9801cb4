/** Writes the addresses of a service's pods into its Endpoints object. */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenEndpoints, SeenPod, SeenService } from '../../../api/seen-objects.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { ipFamily } from '../../../kinds/shapes/meta/addresses/ip-address.ts';
import { type Controller, defineController, related, type Snapshot } from '../../loop/define.ts';
import { type Action, create, type EventReport, eventContent, type Plan, remove, update } from '../../loop/plan.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { identityOf, type PodPorts, portMapping } from './pod-endpoint.ts';
import {
  addressesOf,
  familiesOf,
  isHeadless,
  isManagedByOthers,
  labelsFrom,
  podsBehindServices,
  podsOf,
} from './service-pods.ts';
import { type Address, type Packed, packed, type Subset, truncated } from './subsets.ts';
import { triggerTime, withTriggerTime } from './trigger-time.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const NAME = 'endpoint-controller';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';

export const endpointsController: Controller = defineController<Service>({
  name: 'endpoint',
  account: 'endpoint-controller',
  watches: Service,
  also: [
    podsBehindServices,
    // Endpoints may exist before their service, and then stay; those created here are deleted with it.
    related(Endpoints, (endpoints, { of }) => {
      const { name = '', namespace, labels } = endpoints.metadata;
      return of(Service).get(name, namespace) || labels?.[MANAGED_BY] === NAME ? [keyOf(endpoints)] : [];
    }),
  ],
  plan: planEndpoints,
});

/** A service may have tens of thousands of pods, and thousands of ports that each of them numbers in its own way. */
export function* planEndpoints(
  service: SeenService | undefined,
  world: Pick<Snapshot, 'of' | 'key' | 'pace'>,
): DividedWork<Plan> {
  const { name, namespace } = world.key;
  const current = world.of(Endpoints).get(name, namespace);
  if (!service) return current ? [remove(Endpoints, current)] : [];
  if (isManagedByOthers(service)) return [];
  const pods = podsOf(service, world, service.spec.publishNotReadyAddresses ?? false);
  const { subsets: unpacked, isCut } = yield* subsetsOf(service, pods, world.pace);
  const { subsets, isCut: isPackedCut } = yield* packed(unpacked, world.pace);
  return written(service, { current, subsets, isCut: isCut || isPackedCut, pods });
}

/** Builds one subset for all pods with the same ports; they are packed afterwards. */
function* subsetsOf(service: SeenService, pods: readonly SeenPod[], pace: Pace): DividedWork<Packed> {
  const { ports: servicePorts = [], publishNotReadyAddresses } = service.spec;
  if (servicePorts.length === 0 && !isHeadless(service)) return { subsets: [], isCut: false };
  const portsOf = portMapping(service);
  const groups = new Map<PodPorts, { addresses: Address[]; notReadyAddresses: Address[] }>();
  let isCut = false;
  for (const pod of pods) {
    if (pace.isSpent()) yield;
    const address = addressOf(service, pod);
    const found = address && portsOf(pod);
    if (address && !found) isCut = true;
    if (!address || !found) continue;
    const group = getOrInsert(groups, found, () => ({ addresses: [], notReadyAddresses: [] }));
    (publishNotReadyAddresses || isReady(pod) ? group.addresses : group.notReadyAddresses).push(address);
  }
  // A service with ports has no endpoint on pods without any of its ports.
  const subsets = [...groups].flatMap(([{ ports }, addresses]) =>
    ports.length > 0 || servicePorts.length === 0 ? [{ ...addresses, ports }] : [],
  );
  return { subsets, isCut };
}

function addressOf(service: SeenService, pod: SeenPod): Address | undefined {
  const [family] = familiesOf(service);
  const ip = addressesOf(pod).find((each) => ipFamily(each) === family);
  return ip ? { ip, ...identityOf(pod, service) } : undefined;
}

interface EndpointsInput {
  readonly current: SeenEndpoints | undefined;
  readonly subsets: readonly Subset[];
  /** True when some endpoints were left out. */
  readonly isCut: boolean;
  readonly pods: readonly SeenPod[];
}

function written(service: SeenService, { current, subsets, isCut, pods }: EndpointsInput): Action[] {
  const fitting = truncated(subsets) ?? (isCut ? subsets : undefined);
  const kept = fitting ?? subsets;
  const labels = { ...labelsFrom(service), [MANAGED_BY]: NAME };
  const isOver = current?.metadata.annotations?.[OVER_CAPACITY] === 'truncated';
  const isSame =
    current &&
    deepEqual(current.subsets ?? [], kept) &&
    deepEqual(current.metadata.labels, labels) &&
    isOver === (fitting !== undefined);
  if (isSame) return [];
  const time = current
    ? triggerTime(readinessIn(current.subsets), readinessIn(kept), pods)
    : service.metadata.creationTimestamp;
  const { [OVER_CAPACITY]: _, ...others } = current?.metadata.annotations ?? {};
  const annotations = withTriggerTime({ ...others, ...(fitting ? { [OVER_CAPACITY]: 'truncated' } : {}) }, time);
  const { name, namespace } = service.metadata;
  const object = {
    ...current,
    metadata: { ...(current?.metadata ?? { name, namespace }), labels, annotations },
    subsets: kept,
  };
  if (current) return [update(Endpoints, object as Draft<Endpoints>)];
  const about = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace } } as const;
  const words = `Failed to create endpoint for service ${namespace}/${name}`;
  const report: EventReport = {
    about,
    failed: ({ message }) => eventContent('Warning', 'FailedToCreateEndpoint', `${words}: ${message}`),
  };
  return [create(Endpoints, object as Draft<Endpoints>, report)];
}

/** The published pods, and whether each is ready. */
function readinessIn(subsets: readonly Subset[] | undefined): ReadonlyMap<string, boolean> {
  const out = new Map<string, boolean>();
  for (const { addresses = [], notReadyAddresses = [] } of subsets ?? []) {
    for (const { targetRef } of addresses) out.set(targetRef?.uid ?? '', true);
    for (const { targetRef } of notReadyAddresses) out.set(targetRef?.uid ?? '', false);
  }
  return out;
}
