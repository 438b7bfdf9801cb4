/** Maintains a number of pods: the common part of ReplicaSets and ReplicationControllers. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { ReplicationController } from '../../../kinds/groups/core/replication-controller.ts';
import { fromLabels } from '../../../schema/selector/selector.ts';
import { type Controller, defineController, type Failure, type Listers, type Snapshot } from '../../loop/define.ts';
import { type Action, changeStatus, create, type Plan, remove, requeueAfter } from '../../loop/plan.ts';
import { withConditions, withoutCondition } from '../../shared/conditions.ts';
import { claim, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { checkRoomLater, rejectionWait, roomForPods } from '../../shared/pods/creation-limit.ts';
import { firstToGo } from '../../shared/pods/deletion-order.ts';
import { creationReport, deletionReport, newPod } from '../../shared/pods/new-pod.ts';
import { isActive, isAvailable, isReady, isTerminating, nextAvailable, readyTime } from '../../shared/pods/pod-life.ts';

type Owner = ReplicaSet | ReplicationController;

type World = Pick<Snapshot<boolean>, 'of' | 'observed' | 'failures'>;

interface ReplicasOptions<T extends Owner> {
  readonly ownership: Ownership<T, Pod>;
  /** Pods that do the same work, whichever owner manages them. */
  related(owner: DeepReadonly<T>, world: Listers): readonly SeenPod[];
  readonly countsTerminating: boolean;
}

const MAX_PODS_PER_PLAN = 500;

const FAILURE = 'ReplicaFailure';

/** Returns the controller of a kind, and its plan. `world.observed`: whether orphans may be adopted. */
export function replicasController<T extends Owner>(
  identity: Pick<Controller, 'name' | 'account'>,
  {
    owner: kind,
    selector,
    ...differences
  }: Pick<Ownership<T, Pod>, 'owner' | 'selector'> & Omit<ReplicasOptions<T>, 'ownership'>,
) {
  // Terminating and terminated pods do not count.
  const ownership: Ownership<T, Pod> = { owner: kind, kind: Pod, selector, counts: isActive };
  const plan = (owner: DeepReadonly<T> | undefined, world: World, now: Date): Plan =>
    owner ? planReplicas(owner, world, { ...differences, ownership, now: now.getTime() }) : [];
  const controller = defineController<T, boolean>({
    ...identity,
    watches: kind,
    owns: [Pod],
    ignoresUpdate: isSameForReplicas,
    also: [orphansOf(ownership)],
    observe: (owner, world, tools) => observeAdoption(owner, ownership, { world, ...tools }),
    plan,
  });
  return { controller, plan };
}

function planReplicas<T extends Owner>(
  owner: DeepReadonly<T>,
  world: World,
  { now, ...options }: ReplicasOptions<T> & { readonly now: number },
): Plan {
  const { ownership } = options;
  const claimed = claim(owner, ownership, { world, mayAdopt: world.observed });
  const { changes, requeue } = owner.metadata.deletionTimestamp
    ? NO_CHANGES
    : resize(owner, claimed.mine, { ...options, world, now });
  const failure = failureOf(world.failures);
  // Created or deleted pods cause the next plan, which writes the status. Only a failure is written before.
  const isSilent = changes.length > 0 && !failure;
  const status = statusOf(owner, claimed.mine, { ...options, world, now, failure });
  return [
    ...claimed.actions,
    ...(isSilent ? [] : changeStatus(ownership.owner, owner, status)),
    ...changes,
    ...requeue,
    ...nextAvailable(claimed.mine, owner.spec.minReadySeconds ?? 0, now),
  ];
}

interface Resized {
  readonly changes: readonly Action[];
  /** Actions that plan again in any case. */
  readonly requeue: readonly Action[];
}

const NO_CHANGES: Resized = { changes: [], requeue: [] };

interface ResizeContext<T extends Owner> extends ReplicasOptions<T> {
  readonly world: Listers;
  readonly now: number;
}

function resize<T extends Owner>(
  owner: DeepReadonly<T>,
  pods: readonly SeenPod[],
  { ownership, related, world, now }: ResizeContext<T>,
): Resized {
  const missing = owner.spec.replicas - pods.length;
  if (missing > 0) {
    const wait = rejectionWait(world.of(Pod).controlledBy(owner.metadata.uid ?? ''), now);
    if (wait > 0) return { changes: [], requeue: [requeueAfter(wait)] };
    const pod = newPod(owner, ownership.owner, owner.spec.template as any);
    const report = creationReport(owner);
    const wanted = Math.min(missing, MAX_PODS_PER_PLAN);
    const room = roomForPods(owner.spec.template as object, owner.metadata.namespace, world);
    return {
      changes: Array.from({ length: Math.min(wanted, room) }, () => create(Pod, pod, report)),
      requeue: checkRoomLater(room, wanted),
    };
  }
  if (missing === 0) return NO_CHANGES;
  const report = deletionReport(owner);
  const count = Math.min(-missing, MAX_PODS_PER_PLAN);
  const going = firstToGo(pods, count, { related: related(owner, world), now });
  return { ...NO_CHANGES, changes: going.map((pod) => remove(Pod, pod, { report })) };
}

function statusOf<T extends Owner>(
  owner: DeepReadonly<T>,
  pods: readonly SeenPod[],
  {
    ownership,
    countsTerminating,
    world,
    now,
    failure,
  }: ResizeContext<T> & { readonly failure: EventContent | undefined },
): object {
  const { minReadySeconds = 0, template } = owner.spec;
  const fullLabels = fromLabels((template as any)?.metadata?.labels ?? {});
  const available = pods.filter((pod) => isAvailable(pod, minReadySeconds, now));
  const { conditions: present, ...rest } = owner.status;
  // The first failure stays until it is resolved: a message that changes with every attempt would be written with every
  // attempt.
  const isReported = present?.some(({ type }) => type === FAILURE);
  const withFailure = isReported
    ? [...(present ?? [])]
    : withConditions(present, failure ? [failure] : [], new Date(now));
  const conditions = failure ? withFailure : withoutCondition(present, FAILURE);
  return {
    ...rest,
    // While there are too many pods, because they could not be deleted, the counts do not reflect the new size.
    observedGeneration: pods.length > owner.spec.replicas ? owner.status.observedGeneration : owner.metadata.generation,
    replicas: pods.length,
    fullyLabeledReplicas: counted(pods.filter(({ metadata }) => fullLabels.matches(metadata.labels)).length),
    readyReplicas: counted(pods.filter(isReady).length),
    availableReplicas: counted(available.length),
    ...(countsTerminating ? { terminatingReplicas: terminating(owner, ownership, world) } : {}),
    conditions: conditions.length > 0 ? conditions : undefined,
  };
}

/** Zero is omitted. */
const counted = (count: number) => count || undefined;

function terminating<T extends Owner>(owner: DeepReadonly<T>, { selector }: Ownership<T, Pod>, world: Listers): number {
  const labels = selector(owner);
  const own = world.of(Pod).controlledBy(owner.metadata.uid ?? '');
  return own.filter((pod) => isTerminating(pod) && labels.matches(pod.metadata.labels)).length;
}

interface EventContent {
  readonly type: typeof FAILURE;
  readonly status: 'True';
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

/** Why pods could not be created or deleted at the last attempt. */
function failureOf(failures: readonly Failure[]): EventContent | undefined {
  for (const { action, error } of failures) {
    const condition = { type: FAILURE, status: 'True' } as const;
    if (action?.type === 'create') return { ...condition, reason: 'FailedCreate', message: error.message };
    if (action?.type === 'delete') {
      return { ...condition, reason: 'FailedDelete', message: `unable to delete pods: ${error.message}` };
    }
  }
  return undefined;
}

/**
 * Reports whether nothing has changed that a plan depends on. Two of the four versions of a pod on its way to Ready are
 * the same here: without this, a set of 100 pods is planned, over all its pods, twice as often.
 */
export function isSameForReplicas(pod: SeenPod, old: SeenPod): boolean {
  return (
    pod.status.phase === old.status.phase &&
    readyTime(pod) === readyTime(old) &&
    pod.metadata.deletionTimestamp === old.metadata.deletionTimestamp &&
    deepEqual(pod.metadata.labels, old.metadata.labels) &&
    deepEqual(pod.metadata.ownerReferences, old.metadata.ownerReferences)
  );
}
