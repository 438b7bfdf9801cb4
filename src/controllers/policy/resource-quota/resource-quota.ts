/** Recomputes the usage of a quota, and writes its status. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../../kinds/groups/core/quota/resource-quota.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { addTo, amountsOf, listOf, NOTHING, only } from '../../../kinds/quota/amounts.ts';
import { covers, evaluatorOf } from '../../../kinds/quota/objects.ts';
import { chargedUntil } from '../../../kinds/quota/pods.ts';
import type { Amounts } from '../../../kinds/shapes/pod/pod-resources.ts';
import { type Controller, defineController, type ReadTools, type Snapshot } from '../../loop/define.ts';
import { type Action, type Plan, requeueAfter, requeueOnChange, updateStatus } from '../../loop/plan.ts';
import type { KindsOptions } from '../../shared/aggregated-kinds.ts';

/** Delay before a failed write is retried. */
const RETRY_MS = 1000;

export interface KindObjects {
  readonly kind: Kind;
  readonly objects: readonly DeepReadonly<KubeObject>[];
  readonly resourceVersion: string;
}

export function resourceQuotaController({ kinds }: KindsOptions): Controller {
  return defineController<ResourceQuota, readonly KindObjects[]>({
    name: 'resource-quota',
    account: 'resourcequota-controller',
    watches: ResourceQuota,
    observe: async (quota, _, { client, signal }) => (quota ? look(quota, { client, signal, kinds }) : []),
    plan: planResourceQuota,
  });
}

/**
 * Lists after the quota was read, so that the lists are not older than it: a write in between has changed the quota, too, and
 * then the planned status is rejected as stale. An informer may lag behind.
 */
async function look(
  { metadata, spec }: DeepReadonly<ResourceQuota>,
  { client, signal, kinds }: ReadTools & KindsOptions,
): Promise<readonly KindObjects[]> {
  const limited = Object.keys(spec.hard ?? {});
  const relevant = [...kinds()].filter((kind) => limited.some((resource) => evaluatorOf(kind)?.counts(resource)));
  return Promise.all(
    relevant.map(async (kind): Promise<KindObjects> => {
      const list = await client
        .of(kind)
        .in(metadata.namespace ?? '')
        .listAll({ signal });
      return { kind, objects: list.items, resourceVersion: list.metadata.resourceVersion };
    }),
  );
}

/** A namespace may have tens of thousands of objects. */
export function* planResourceQuota(
  quota: DeepReadonly<ResourceQuota> | undefined,
  { observed, pace }: Pick<Snapshot<readonly KindObjects[]>, 'observed' | 'pace'>,
  now: Date,
): DividedWork<Plan> {
  if (!quota) return [];
  const { namespace = '' } = quota.metadata;
  const used = yield* usageOf(quota, observed, { now: now.getTime(), pace });
  const status = { hard: { ...quota.spec.hard }, used: listOf(used) };
  return [
    ...(isSame(status, quota.status) ? [] : written({ ...quota, status } as ResourceQuota)),
    ...observed.map(({ kind, resourceVersion }) => requeueOnChange(kind, namespace, resourceVersion)),
    ...nextEnd(observed, now.getTime()),
  ];
}

/**
 * Writes the status and retries: while many objects are created the write conflicts again and again, and the loop backs
 * off; released quota must not wait that long.
 */
function written(quota: ResourceQuota): Action[] {
  return [updateStatus(ResourceQuota, quota), requeueAfter(RETRY_MS)];
}

/** The usage of the limited resources only. */
function* usageOf(
  quota: DeepReadonly<ResourceQuota>,
  counted: readonly KindObjects[],
  { now, pace }: { readonly now: number; readonly pace: Pace },
): DividedWork<Amounts> {
  const limited = Object.keys(quota.spec.hard ?? {});
  const used: Amounts = new Map(limited.map((resource) => [resource, NOTHING]));
  for (const { kind, objects } of counted) {
    const evaluator = evaluatorOf(kind);
    if (!evaluator) continue;
    for (const object of objects) {
      if (pace.isSpent()) yield;
      if (covers(quota, evaluator, object)) addTo(used, evaluator.usage(object, now));
    }
  }
  const names = new Set(limited);
  return only(used, (resource) => names.has(resource));
}

/** Compares amounts, however they are written. */
function isSame(status: ResourceQuota['status'], before: DeepReadonly<ResourceQuota>['status'] | undefined): boolean {
  const plain = (list: Readonly<Record<string, string>> | undefined) => listOf(amountsOf(list));
  return deepEqual(plain(status.hard), plain(before?.hard)) && deepEqual(plain(status.used), plain(before?.used));
}

/** A terminating pod stops counting when its grace period ends, whether or not anything happens then. */
function nextEnd(counted: readonly KindObjects[], now: number): Action[] {
  let next = Number.POSITIVE_INFINITY;
  for (const { kind, objects } of counted) {
    if (kind !== Pod) continue;
    for (const { metadata } of objects) {
      const end = chargedUntil(metadata as Pod['metadata']);
      if (end !== undefined && end > now) next = Math.min(next, end);
    }
  }
  return next === Number.POSITIVE_INFINITY ? [] : [requeueAfter(next - now + 1)];
}
