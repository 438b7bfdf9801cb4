/** Keeping a number of pods alive: what ReplicaSets and ReplicationControllers have in common. */
import { deepEqual } from '../../../base/tree.ts';
import type { DeepReadonly, Draft } from '../../../client/object-types.ts';
import type { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { ReplicationController } from '../../../kinds/groups/core/replication-controller.ts';
import { fromLabels } from '../../../schema/selector.ts';
import type { Failure, Listers, Snapshot } from '../../loop/define.ts';
import { type Action, create, type Plan, type Report, remove, told, updateStatus } from '../../loop/plan.ts';
import { withConditions, withoutCondition } from '../../shared/conditions.ts';
import { claim, type Ownership } from '../../shared/ownership.ts';
import { isAvailable, nextAvailable } from '../../shared/pods/availability.ts';
import { firstToGo } from '../../shared/pods/deletion-order.ts';
import { newPod } from '../../shared/pods/new-pod.ts';
import { isActive, isReady, isTerminating } from '../../shared/pods/pod-life.ts';

type Owner = ReplicaSet | ReplicationController;
type SeenPod = DeepReadonly<Pod>;

/** What differs between the two. */
export interface ReplicasOptions<T extends Owner> {
  readonly ownership: Ownership<T, Pod>;
  /** The pods that do the same work, by whomever they are managed. */
  related(owner: DeepReadonly<T>, world: Listers): readonly SeenPod[];
  readonly countsTerminating: boolean;
}

/** So many pods are created or deleted at a time; the rest waits for the next plan. */
const BURST = 500;

const FAILURE = 'ReplicaFailure';

/** `world.observed`: whether orphans may be adopted. */
export function planReplicas<T extends Owner>(
  owner: DeepReadonly<T>,
  world: Pick<Snapshot<boolean>, 'of' | 'observed' | 'failures'>,
  { now, ...options }: ReplicasOptions<T> & { readonly now: number },
): Plan {
  const { ownership } = options;
  const claimed = claim(owner, ownership, { world, mayAdopt: world.observed });
  const changes = owner.metadata.deletionTimestamp ? [] : resize(owner, claimed.mine, { ...options, world, now });
  const failure = failureOf(world.failures);
  // Pods that come or go bring the next plan, which has something to say. Only a failure is told before it happens again.
  const isSilent = changes.length > 0 && !failure;
  const status = statusOf(owner, claimed.mine, { ...options, world, now, failure });
  return [
    ...claimed.actions,
    ...(isSilent || deepEqual(status, owner.status)
      ? []
      : [updateStatus(ownership.owner, { ...owner, status } as unknown as Draft<T>)]),
    ...changes,
    ...nextAvailable(claimed.mine, owner.spec.minReadySeconds ?? 0, now),
  ];
}

interface Circumstances<T extends Owner> extends ReplicasOptions<T> {
  readonly world: Listers;
  readonly now: number;
}

function resize<T extends Owner>(
  owner: DeepReadonly<T>,
  pods: readonly SeenPod[],
  { ownership, related, world, now }: Circumstances<T>,
): readonly Action[] {
  const missing = owner.spec.replicas - pods.length;
  if (missing > 0) {
    const pod = newPod(owner, ownership.owner, owner.spec.template as any);
    const report: Report = {
      about: owner,
      done: (name) => told('Normal', 'SuccessfulCreate', `Created pod: ${name}`),
      failed: ({ message }) => told('Warning', 'FailedCreate', `Error creating: ${message}`),
    };
    return Array.from({ length: Math.min(missing, BURST) }, () => create(Pod, pod, report));
  }
  if (missing === 0) return [];
  const report: Report = {
    about: owner,
    done: (name) => told('Normal', 'SuccessfulDelete', `Deleted pod: ${name}`),
    failed: ({ message }) => told('Warning', 'FailedDelete', `Error deleting: ${message}`),
  };
  const count = Math.min(-missing, BURST);
  return firstToGo(pods, count, { related: related(owner, world), now }).map((pod) => remove(Pod, pod, { report }));
}

function statusOf<T extends Owner>(
  owner: DeepReadonly<T>,
  pods: readonly SeenPod[],
  { ownership, countsTerminating, world, now, failure }: Circumstances<T> & { readonly failure: Told | undefined },
): object {
  const { minReadySeconds = 0, template } = owner.spec;
  const fullLabels = fromLabels((template as any)?.metadata?.labels ?? {});
  const available = pods.filter((pod) => isAvailable(pod, minReadySeconds, now));
  const { conditions: present, ...rest } = owner.status;
  // The first failure is told until all is well: words that change with every try would be written with every try.
  const isTold = present?.some(({ type }) => type === FAILURE);
  const told = isTold ? [...(present ?? [])] : withConditions(present, failure ? [failure] : [], new Date(now));
  const conditions = failure ? told : withoutCondition(present, FAILURE);
  return {
    ...rest,
    // Where pods are still too many, because they could not be deleted, the counts do not speak of the new size yet.
    observedGeneration: pods.length > owner.spec.replicas ? owner.status.observedGeneration : owner.metadata.generation,
    replicas: pods.length,
    fullyLabeledReplicas: counted(pods.filter(({ metadata }) => fullLabels.matches(metadata.labels)).length),
    readyReplicas: counted(pods.filter(isReady).length),
    availableReplicas: counted(available.length),
    ...(countsTerminating ? { terminatingReplicas: terminating(owner, ownership, world) } : {}),
    conditions: conditions.length > 0 ? conditions : undefined,
  };
}

/** None is not shown. */
const counted = (count: number) => count || undefined;

function terminating<T extends Owner>(owner: DeepReadonly<T>, { selector }: Ownership<T, Pod>, world: Listers): number {
  const labels = selector(owner);
  const own = world.of(Pod).controlledBy(owner.metadata.uid ?? '');
  return own.filter((pod) => isTerminating(pod) && labels.matches(pod.metadata.labels)).length;
}

interface Told {
  readonly type: typeof FAILURE;
  readonly status: 'True';
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

/** What kept pods from being created or deleted when that was tried last. */
function failureOf(failures: readonly Failure[]): Told | undefined {
  for (const { action, error } of failures) {
    const condition = { type: FAILURE, status: 'True' } as const;
    if (action?.type === 'create') return { ...condition, reason: 'FailedCreate', message: error.message };
    if (action?.type === 'delete') {
      return { ...condition, reason: 'FailedDelete', message: `unable to delete pods: ${error.message}` };
    }
  }
  return undefined;
}

/** The pods that such an owner counts: those that are on their way out or have ended do not. */
export const countsPod = (pod: SeenPod): boolean => isActive(pod);
