/**
 * Distributes endpoints over slices so that few slices change: endpoints stay in their slice, slices that change anyway are
 * filled first, and a slice that would be deleted is reused.
 */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { addAll } from '../../../base/collections/add-all.ts';
import { groupBy } from '../../../base/collections/group-by.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { type Related, related, type Snapshot } from '../../loop/define.ts';
import { type Action, create, remove, update } from '../../loop/plan.ts';

export type Slice = DeepReadonly<EndpointSlice>;
export type SliceEndpoint = Slice['endpoints'][number];
export type SlicePort = Slice['ports'][number];

/** The limit of the kind. */
const MAX_PORTS_PER_SLICE = 20_000;

/** Names every port of a slice; the name may be empty. Cached: the ports of a service are the same in every plan. */
export const slicePorts = memoized(
  (ports: readonly (Omit<SlicePort, 'name'> & { readonly name?: string })[]): readonly SlicePort[] =>
    ports.slice(0, MAX_PORTS_PER_SLICE).map(({ name = '', ...port }) => ({ name, ...port })),
);

/** Endpoints with the same ports and address type. */
export interface EndpointGroup {
  readonly addressType: Slice['addressType'];
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface Packing {
  /** The maximum number of endpoints in a slice. */
  readonly limit: number;
  /** Builds a slice of the group without its endpoints, from `old` if there is one. */
  sliceFor(group: EndpointGroup, old: Slice | undefined): Draft<EndpointSlice>;
  readonly pace: Pace;
}

/** A slice to write. `old` is its current state, if it exists. */
interface PlannedSlice {
  readonly group: EndpointGroup;
  old: Slice | undefined;
  endpoints: SliceEndpoint[];
  isChanged: boolean;
}

/** Packs groups into slices, of which `slices` exist; those that match no group are reused or deleted. */
export function* pack(
  groups: readonly EndpointGroup[],
  slices: readonly Slice[],
  packing: Packing,
): DividedWork<Action[]> {
  const { pace } = packing;
  const byGroup = groupBy(slices, groupKey);
  const planned: PlannedSlice[] = [];
  for (const group of groups) {
    if (pace.isSpent()) yield;
    const own = byGroup.get(groupKey(group)) ?? [];
    addAll(planned, group.endpoints.length > 0 ? yield* packGroup(group, own, packing) : [empty(group, own[0])]);
  }
  const kept = planned.filter(({ endpoints, group }) => endpoints.length > 0 || group.endpoints.length === 0);
  const used = new Set(kept.map(({ old }) => old));
  const unused = groupBy(slices.filter((slice) => !used.has(slice)).reverse(), ({ addressType }) => addressType);
  for (const slice of kept) slice.old ??= unused.get(slice.group.addressType)?.pop();
  const left = [...unused.values()].flatMap((all) => all.reverse());
  const actions: Action[] = [];
  for (const slice of kept) {
    if (pace.isSpent()) yield;
    addAll(actions, written(slice, packing));
  }
  return [...actions, ...left.map((slice) => remove(EndpointSlice, slice))];
}

function* packGroup(
  group: EndpointGroup,
  slices: readonly Slice[],
  { limit, pace }: Packing,
): DividedWork<PlannedSlice[]> {
  const wanted = new Map<string, SliceEndpoint>();
  for (const endpoint of group.endpoints) {
    if (pace.isSpent()) yield;
    wanted.set(endpointKey(endpoint), endpoint);
  }
  const planned: PlannedSlice[] = [];
  for (const old of slices) {
    if (pace.isSpent()) yield;
    const endpoints: SliceEndpoint[] = [];
    for (const endpoint of old.endpoints) {
      const key = endpointKey(endpoint);
      const found = wanted.get(key);
      if (found && endpoints.length < limit) {
        endpoints.push(found);
        wanted.delete(key);
      }
    }
    planned.push({ group, old, endpoints, isChanged: !deepEqual(endpoints, old.endpoints) });
  }
  const rest = [...wanted.values()];
  let next = 0;
  const left = () => rest.length - next;
  const take = (count: number) => {
    const taken = rest.slice(next, next + count);
    next += taken.length;
    return taken;
  };
  const fill = (slice: PlannedSlice) => {
    slice.endpoints.push(...take(limit - slice.endpoints.length));
    slice.isChanged = true;
  };
  const changing = planned.filter(({ isChanged, endpoints }) => isChanged && endpoints.length > 0);
  for (const slice of changing.sort((a, b) => b.endpoints.length - a.endpoints.length)) if (left() > 0) fill(slice);
  while (left() >= limit) planned.push(filled(group, take(limit)));
  if (left() === 0) return planned;
  const fitting = planned
    .filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + left() <= limit)
    .sort((a, b) => b.endpoints.length - a.endpoints.length)[0];
  if (fitting) fill(fitting);
  else planned.push(filled(group, take(limit)));
  return planned;
}

const empty = (group: EndpointGroup, old: Slice | undefined): PlannedSlice => ({
  group,
  old,
  endpoints: [],
  isChanged: old === undefined || old.endpoints.length > 0,
});

const filled = (group: EndpointGroup, endpoints: SliceEndpoint[]): PlannedSlice => ({
  group,
  old: undefined,
  endpoints,
  isChanged: true,
});

function written({ group, old, endpoints }: PlannedSlice, { sliceFor }: Packing): Action[] {
  const object = { ...sliceFor(group, old), addressType: group.addressType, ports: group.ports, endpoints };
  if (!old) return [create(EndpointSlice, object as Draft<EndpointSlice>)];
  const isSame =
    deepEqual(old.endpoints, endpoints) &&
    portsKey(old.ports) === portsKey(group.ports) &&
    deepEqual(old.metadata.labels, object.metadata?.labels) &&
    deepEqual(withoutTimes(old.metadata.annotations), withoutTimes(object.metadata?.annotations));
  return isSame ? [] : [update(EndpointSlice, object as Draft<EndpointSlice>)];
}

/** The time of the last change does not count as a change. */
function withoutTimes(annotations: Readonly<Record<string, string | undefined>> | undefined): object {
  return Object.fromEntries(
    Object.entries(annotations ?? {}).filter(([key]) => key !== 'endpoints.kubernetes.io/last-change-trigger-time'),
  );
}

/** Endpoints are equal when they lead to the same target. */
function endpointKey({ addresses, hostname, targetRef, nodeName }: SliceEndpoint): string {
  return JSON.stringify([
    addresses,
    hostname,
    targetRef?.kind,
    targetRef?.namespace,
    targetRef?.name,
    targetRef?.uid,
    nodeName,
  ]);
}

function groupKey({ addressType, ports }: Pick<EndpointGroup, 'addressType' | 'ports'>): string {
  return `${addressType} ${portsKey(ports)}`;
}

/**
 * The order of ports does not matter. None of the fields has a space. Cached: lists are long in rare cases, and compared in
 * every plan.
 */
const portsKey = memoized((ports: readonly SlicePort[]): string => {
  const texts = ports.map(({ name, port, protocol, appProtocol = '' }) => `${name} ${port} ${protocol} ${appProtocol}`);
  return texts.sort().join('\n');
});

export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';

/** Related kind for a controller's `also`: slices wake their service. */
export const slicesManagedBy = (manager: string): Related =>
  related(EndpointSlice, (slice) => (isManagedBy(slice, manager) ? serviceOf(slice) : []));

/** The slices of the service that is planned for. */
export function slicesOf({ of, key }: Pick<Snapshot, 'of' | 'key'>, manager: string): readonly Slice[] {
  return of(EndpointSlice)
    .by(serviceOf, `${key.namespace}/${key.name}`)
    .filter((slice) => isManagedBy(slice, manager) && !slice.metadata.deletionTimestamp);
}

function isManagedBy({ metadata }: Slice, manager: string): boolean {
  return metadata.labels?.[MANAGED_BY] === manager;
}

/** Returns the keys of the slice's service. Also serves as an index. */
function serviceOf({ metadata }: Slice): readonly string[] {
  const name = metadata.labels?.[SERVICE_NAME];
  return name ? [`${metadata.namespace}/${name}`] : [];
}
