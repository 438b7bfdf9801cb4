/** Marks ServiceCIDRs as ready, and protects those that services have addresses of. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { IP_ALLOCATOR, IP_MANAGER_LABEL, IPAddress } from '../../../kinds/groups/networking/ip-address.ts';
import { ServiceCIDR } from '../../../kinds/groups/networking/service-cidr.ts';
import { isInRange, isPartOfRange } from '../../../kinds/shapes/meta/addresses/ip-range.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { type Plan, patch, patchStatus, requeueAfter } from '../../loop/plan.ts';
import { type Condition, withConditions } from '../../shared/conditions.ts';
import { removeFinalizer } from '../../shared/ownership.ts';

const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';
/** Delay after which every server knows that it must not allocate from the ranges any more. */
const DELETION_DELAY_MS = 10_000;

type Range = DeepReadonly<ServiceCIDR>;
type Address = DeepReadonly<IPAddress>;

export const serviceCidrController: Controller = defineController<ServiceCIDR>({
  name: 'service-cidr',
  account: 'service-cidrs-controller',
  watches: ServiceCIDR,
  also: [
    related(ServiceCIDR, (_, world) => namesOf(beingDeleted(world))),
    related(IPAddress, (address, world) => namesOf(beingDeleted(world).filter((range) => contains(range, address)))),
  ],
  plan: planServiceCidr,
});

export function planServiceCidr(range: Range | undefined, world: Listers, now: Date): Plan {
  if (!range) return [];
  return range.metadata.deletionTimestamp === undefined
    ? planReady(range, now)
    : planDeletion(range, { world, deletedAt: Date.parse(range.metadata.deletionTimestamp), now });
}

function planReady(range: Range, now: Date): Plan {
  const { finalizers = [] } = range.metadata;
  const ready = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
  if (finalizers.includes(FINALIZER)) return report(range, ready, now);
  const changes = { metadata: { finalizers: [...finalizers, FINALIZER] } };
  return [patch(ServiceCIDR, range, { type: 'merge', changes }), ...report(range, ready, now)];
}

interface Deletion {
  readonly world: Listers;
  readonly deletedAt: number;
  readonly now: Date;
}

function planDeletion(range: Range, { world, deletedAt, now }: Deletion): Plan {
  const { finalizers = [] } = range.metadata;
  if (!finalizers.includes(FINALIZER)) return [];
  if (isNeeded(range, world)) {
    const message =
      'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';
    return report(range, { type: 'Ready', status: 'False', reason: 'Terminating', message }, now);
  }
  const waitMs = deletedAt + DELETION_DELAY_MS - now.getTime();
  if (waitMs > 0) return [requeueAfter(waitMs)];
  return [removeFinalizer(ServiceCIDR, range, FINALIZER)];
}

/** Reports whether a service has an address that no other remaining ServiceCIDR contains. */
function isNeeded(range: Range, { of }: Listers): boolean {
  const others = of(ServiceCIDR)
    .list()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.name !== range.metadata.name);
  const otherCidrs = others.flatMap(cidrsOf);
  if (cidrsOf(range).every((cidr) => otherCidrs.some((other) => isPartOfRange(cidr, other)))) return false;
  return of(IPAddress)
    .list()
    .some(
      (address) =>
        address.metadata.labels?.[IP_MANAGER_LABEL] === IP_ALLOCATOR &&
        contains(range, address) &&
        !others.some((other) => contains(other, address)),
    );
}

function report(range: Range, condition: Condition, now: Date): Plan {
  const present = (range.status.conditions ?? []) as readonly Condition[];
  const known = present.find(({ type }) => type === condition.type);
  if (known && ['status', 'reason', 'message'].every((field) => textAt(known, field) === textAt(condition, field))) {
    return [];
  }
  const conditions = withConditions(present, [condition], now);
  return [patchStatus(ServiceCIDR, range, { type: 'merge', changes: { status: { conditions } } })];
}

const textAt = (condition: Condition, field: string) => condition[field as keyof Condition] ?? '';

const beingDeleted = ({ of }: Listers) =>
  of(ServiceCIDR)
    .list()
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);

const namesOf = (ranges: readonly Range[]) => ranges.map(({ metadata }) => metadata.name ?? '');

const cidrsOf = ({ spec }: Range) => spec.cidrs ?? [];

const contains = (range: Range, { metadata }: Address) =>
  cidrsOf(range).some((cidr) => isInRange(metadata.name ?? '', cidr));
