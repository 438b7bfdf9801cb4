/** Says in a quota's status what is limited and how much is used, counted anew from what there is. */
import { deepEqual } from '../../../base/tree.ts';
import type { Client } from '../../../client/client.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../../kinds/groups/core/resource-quota.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { addTo, amountsOf, listOf, NOTHING, only } from '../../../kinds/quota/amounts.ts';
import { covers, evaluatorOf } from '../../../kinds/quota/objects.ts';
import { chargedUntil } from '../../../kinds/quota/pods.ts';
import type { Amounts } from '../../../kinds/shapes/pod/pod-resources.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import { type Action, type Plan, requeueAfter, requeueOnChange, updateStatus } from '../../loop/plan.ts';

/** After a write that may fail, in milliseconds. */
const LOOK_AGAIN = 1000;

/** All objects of a kind that a quota counts. */
export interface Counted {
  readonly kind: Kind;
  readonly objects: readonly DeepReadonly<KubeObject>[];
  /** The version that the list shows. */
  readonly resourceVersion: string;
}

export interface ResourceQuotaControllerOptions {
  /** The kinds that are served at this moment; they come and go. */
  readonly kinds: () => Iterable<Kind>;
}

export function resourceQuotaController({ kinds }: ResourceQuotaControllerOptions): Controller {
  return defineController<ResourceQuota, readonly Counted[]>({
    name: 'resource-quota',
    account: 'resourcequota-controller',
    watches: ResourceQuota,
    observe: async (quota, _, { client, signal }) => (quota ? look(quota, { client, signal, kinds }) : []),
    plan: planResourceQuota,
  });
}

/**
 * Lists after the quota was read, so that they are not older than it: whatever was written in between has changed the
 * quota, too, and then the status that is planned from it is refused as stale. An informer may lag behind.
 */
async function look(
  { metadata, spec }: DeepReadonly<ResourceQuota>,
  { client, signal, kinds }: ResourceQuotaControllerOptions & { client: Client; signal: AbortSignal },
): Promise<readonly Counted[]> {
  const limited = Object.keys(spec.hard ?? {});
  const relevant = [...kinds()].filter((kind) => limited.some((resource) => evaluatorOf(kind)?.counts(resource)));
  return Promise.all(
    relevant.map(async (kind): Promise<Counted> => {
      const list = await client
        .of(kind)
        .in(metadata.namespace ?? '')
        .listAll({ signal });
      return { kind, objects: list.items, resourceVersion: list.metadata.resourceVersion };
    }),
  );
}

export function planResourceQuota(
  quota: DeepReadonly<ResourceQuota> | undefined,
  { observed }: Pick<Snapshot<readonly Counted[]>, 'observed'>,
  now: Date,
): Plan {
  if (!quota) return [];
  const { namespace = '' } = quota.metadata;
  const status = { hard: { ...quota.spec.hard }, used: listOf(usageOf(quota, observed, now.getTime())) };
  return [
    ...(isSame(status, quota.status) ? [] : written({ ...quota, status } as ResourceQuota)),
    ...observed.map(({ kind, resourceVersion }) => requeueOnChange(kind, namespace, resourceVersion)),
    ...nextEnd(observed, now.getTime()),
  ];
}

/**
 * While much is created the write comes too late again and again, and the loop waits longer each time; what is free must
 * not wait with it.
 */
function written(quota: ResourceQuota): Action[] {
  return [updateStatus(ResourceQuota, quota), requeueAfter(LOOK_AGAIN)];
}

/** What is used of all that is limited, and of nothing else. */
function usageOf(quota: DeepReadonly<ResourceQuota>, counted: readonly Counted[], now: number): Amounts {
  const limited = Object.keys(quota.spec.hard ?? {});
  const used: Amounts = new Map(limited.map((resource) => [resource, NOTHING]));
  for (const { kind, objects } of counted) {
    const evaluator = evaluatorOf(kind);
    if (!evaluator) continue;
    for (const object of objects) {
      if (covers(quota, evaluator, object)) addTo(used, evaluator.usage(object, now));
    }
  }
  return only(used, (resource) => limited.includes(resource));
}

/** The same amounts, however they are written. */
function isSame(status: ResourceQuota['status'], before: DeepReadonly<ResourceQuota>['status'] | undefined): boolean {
  const plain = (list: Readonly<Record<string, string>> | undefined) => listOf(amountsOf(list));
  return deepEqual(plain(status.hard), plain(before?.hard)) && deepEqual(plain(status.used), plain(before?.used));
}

/** A pod that should be gone stops to count when its time is up, whether or not anything happens then. */
function nextEnd(counted: readonly Counted[], now: number): Action[] {
  const ends = counted
    .filter(({ kind }) => kind === Pod)
    .flatMap(({ objects }) => objects.map(({ metadata }) => chargedUntil(metadata as Pod['metadata'])))
    .filter((end) => end !== undefined && end > now) as number[];
  return ends.length > 0 ? [requeueAfter(Math.min(...ends) - now + 1)] : [];
}
