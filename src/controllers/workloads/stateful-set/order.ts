/** Chooses the pods to create and delete next: one by one in order, or all at once with the policy Parallel. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, create, type EventReport, event, eventContent, remove } from '../../loop/plan.ts';
import { checkRoomLater, roomForPods } from '../../shared/pods/creation-limit.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { type Claims, claimsOf } from './claims.ts';
import { isUp, type Member, type Members, podName, replicasOf, restoreIdentity, type SeenSet } from './members.ts';
import { memberPod, nameOf, type Revisions, revisionOf } from './revisions.ts';

/** Number of pods and claims that one plan creates. */
const MAX_STARTS_PER_PLAN = 500;

export interface OrderInput {
  readonly revisions: Revisions;
  readonly world: Listers;
  readonly now: number;
}

export interface Ordered {
  readonly actions: readonly Action[];
  /** True when nothing must be waited for. */
  readonly isDone: boolean;
}

/** First every ordinal gets an available pod, then surplus ones are deleted. */
export function order(set: SeenSet, members: Members, input: OrderInput): Ordered {
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  const filled = fill(set, members, { ...input, isOrdered });
  if (!filled.isDone) return filled;
  const shrunk = shrink(set, members, { ...input, isOrdered });
  return { actions: [...filled.actions, ...shrunk.actions], isDone: shrunk.isDone };
}

interface Input extends OrderInput {
  readonly isOrdered: boolean;
}

/** The actions for one ordinal, and whether those after it have to wait. */
interface Step {
  readonly actions: readonly Action[];
  readonly waits: boolean;
}

/** However large the set, a plan starts a limited number of pods: those that it creates cause the next plan. */
function fill(set: SeenSet, members: Members, input: Input): Ordered {
  const actions: Action[] = [];
  let started = 0;
  const missing = members.end - members.first - members.present.length;
  const wanted = Math.min(missing, MAX_STARTS_PER_PLAN);
  const room = wanted > 0 ? roomForPods(set.spec.template, set.metadata.namespace, input.world) : 0;
  const limit = Math.min(MAX_STARTS_PER_PLAN, room);
  const later = checkRoomLater(room, wanted);
  for (const { ordinal, pod } of replicasOf(members, () => started < limit)) {
    const step = pod ? maintain(set, { ordinal, pod }, input) : start(set, ordinal, input);
    if (!pod) started += step.actions.length;
    for (const action of step.actions) actions.push(action);
    if (step.waits && input.isOrdered) return { actions: [...actions, ...later], isDone: false };
  }
  return { actions: [...actions, ...later], isDone: later.length === 0 || !input.isOrdered };
}

/** Creates a pod when its claims exist. */
function start(set: SeenSet, ordinal: number, { revisions, world }: Input): Step {
  const claims = claimsOf(set, { ordinal }, world);
  if (claims.isStale) return { actions: [], waits: true };
  if (claims.leaving) return { actions: [unusable(set, ordinal, claims.leaving)], waits: true };
  const actions =
    claims.missing.length > 0
      ? claims.missing
      : [...claims.owners, create(Pod, memberPod(set, ordinal, revisions), report(set, 'Create', ordinal))];
  return { actions, waits: true };
}

/** Replaces a terminated pod; others are kept in order. */
function maintain(set: SeenSet, { ordinal, pod }: Member, { world, now }: Input): Step {
  const isLeaving = pod.metadata.deletionTimestamp !== undefined;
  if (isTerminal(pod)) return { actions: isLeaving ? [] : [removal(set, { ordinal, pod })], waits: true };
  if (isLeaving) return { actions: [], waits: true };
  const claims = claimsOf(set, { ordinal, pod }, world);
  return {
    actions: [...restoreIdentity(pod, ordinal), ...restoreClaims(pod, claims)],
    waits: !isUp(pod, set, now),
  };
}

/** A running pod has its claims. */
const restoreClaims = ({ status }: SeenPod, { missing, owners }: Claims) =>
  status.phase === 'Pending' ? [...missing, ...owners] : owners;

/**
 * Deletes pods, the last one first. In order, it goes alone, and one that is not available only when none before it is
 * down. A terminated pod will never be available, so that waiting is pointless.
 */
function shrink(set: SeenSet, members: Members, { world, now, isOrdered }: Input): Ordered {
  const { condemned } = members;
  const actions = condemned.flatMap((context) => claimsOf(set, { ...context, isCondemned: true }, world).owners);
  const going = condemned.filter(({ pod }) => !pod.metadata.deletionTimestamp);
  if (!isOrdered) return { actions: [...actions, ...going.map((context) => removal(set, context))], isDone: true };
  const [next] = condemned;
  /** Reports whether all pods before it are up. Ordinals are enumerated up to the first without a pod. */
  const isFirstDown = (member: Member) => {
    for (const { pod } of replicasOf(members)) if (!isUp(pod, set, now)) return false;
    return condemned.findLast(({ pod }) => !isUp(pod, set, now)) === member;
  };
  if (!next) return { actions, isDone: true };
  const mayGo = going[0] === next && (isUp(next.pod, set, now) || isTerminal(next.pod) || isFirstDown(next));
  return { actions: mayGo ? [...actions, removal(set, next)] : actions, isDone: false };
}

const removal = (set: SeenSet, { ordinal, pod }: Member): Action =>
  remove(Pod, pod, { report: report(set, 'Delete', ordinal) });

function unusable(set: SeenSet, ordinal: number, claim: string): Action {
  const { eventType, reason, message } = failure(set, {
    verb: 'Create',
    ordinal,
    why: `pvc ${claim} is being deleted`,
  });
  return event(set, eventType, reason, message);
}

type Verb = 'Create' | 'Delete';

function report(set: SeenSet, verb: Verb, ordinal: number): EventReport {
  const message = `${verb} Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name} successful`;
  return {
    about: set,
    done: () => eventContent('Normal', `Successful${verb}`, message),
    failed: (error) => failure(set, { verb, ordinal, why: error.message }),
  };
}

function failure(
  set: SeenSet,
  { verb, ordinal, why }: { readonly verb: Verb; readonly ordinal: number; readonly why: string },
) {
  const what = `${verb} Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
  return eventContent('Warning', `Failed${verb}`, `${what} failed error: ${why}`);
}

/** Deletes old pods from the partition on, as long as not too many available ones are missing. */
export function rollUpdate(
  set: SeenSet,
  { first, end, present }: Members,
  { revisions, now }: { readonly revisions: Revisions; readonly now: number },
): readonly Action[] {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type !== 'RollingUpdate') return [];
  const update = nameOf(revisions.update);
  const up = present.filter(({ pod }) => isUp(pod, set, now)).length;
  let spare = maxUnavailable(set) - (end - first - up);
  const partition = first + (rollingUpdate?.partition ?? 0);
  const going: Member[] = [];
  for (const { ordinal, pod } of present.toReversed()) {
    if (ordinal < partition) break;
    if (pod.metadata.deletionTimestamp || revisionOf(pod) === update) continue;
    const isLoss = isUp(pod, set, now);
    if (isLoss && spare <= 0) continue;
    if (isLoss) spare--;
    going.push({ ordinal, pod });
  }
  return going.map((context) => removal(set, context));
}

/** A percentage is rounded up. */
function maxUnavailable({ spec }: SeenSet): number {
  const { maxUnavailable: limit = 1 } = spec.updateStrategy.rollingUpdate ?? {};
  return typeof limit === 'number' ? limit : Math.max(1, Math.ceil((magnitude(limit) * spec.replicas) / 100));
}
