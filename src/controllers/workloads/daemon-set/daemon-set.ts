/** Runs one pod of a DaemonSet on every eligible node, and updates them to the current template. */

import type { SeenNode, SeenPod } from '../../../api/seen-objects.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { ControllerRevision } from '../../../kinds/groups/apps/controller-revision.ts';
import { DaemonSet } from '../../../kinds/groups/apps/daemon-set.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { type Action, changeStatus, create, type Plan, remove } from '../../loop/plan.ts';
import {
  type Adoption,
  forget,
  type History,
  history,
  REVISION_LABEL,
  type SeenRevision,
} from '../../shared/history/history.ts';
import { claim, compiledSelector, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { creationReport, deletionReport } from '../../shared/pods/new-pod.ts';
import { nextAvailable } from '../../shared/pods/pod-life.ts';
import { templateHash } from '../../shared/pods/template-hash.ts';
import { type DaemonNodes, daemonNodesOf, eligibility, statusOf } from './daemon-nodes.ts';
import { bySetAndNode, daemonPod, type PodTest, type SeenDaemonSet, setAndNode, updatedTest } from './daemon-pod.ts';
import { FailedPods } from './failure-backoff.ts';
import { type Changes, planNodes, roll } from './plan-nodes.ts';

type World = Pick<Snapshot<Adoption>, 'of' | 'observed' | 'failures'>;

/** Number of pods that one plan creates, and number that it deletes. */
const MAX_PODS_PER_PLAN = 250;

const selector = ({ spec }: SeenDaemonSet) => compiledSelector(spec.selector);
const pods: Ownership<DaemonSet, Pod> = { owner: DaemonSet, kind: Pod, selector };
const revisions: Ownership<DaemonSet, ControllerRevision> = { owner: DaemonSet, kind: ControllerRevision, selector };

export function daemonSetController(): Controller {
  const failedPods = new FailedPods();
  return defineController<DaemonSet, Adoption>({
    name: 'daemonset',
    account: 'daemon-set-controller',
    watches: DaemonSet,
    owns: [Pod, ControllerRevision],
    ignoresNew: [ControllerRevision],
    also: [orphansOf(pods), orphansOf(revisions), related(Node, concerned)],
    observe: async (daemonSet, world, tools) => ({
      pods: await observeAdoption(daemonSet, pods, { world, ...tools }),
      revisions: await observeAdoption(daemonSet, revisions, { world, ...tools }),
    }),
    plan(daemonSet, world, time) {
      if (!daemonSet) return [];
      const now = time.getTime();
      const { plan, failed } = planDaemonSet(daemonSet, world, { now, backoff: failedPods });
      for (const key of failed) failedPods.note(key, now);
      return plan;
    },
  });
}

/** Returns the sets that a node update affects: the node should have a pod and has none, or the reverse. */
function concerned(node: SeenNode, { of }: Listers): readonly string[] {
  const { name = '' } = node.metadata;
  const isGone = of(Node).get(name) === undefined;
  return of(DaemonSet)
    .list()
    .filter((daemonSet) => {
      const { shouldRun } = eligibility(daemonSet)(node);
      const isThere = of(Pod).by(bySetAndNode, setAndNode(daemonSet.metadata.uid, name)).length > 0;
      if (isGone) return shouldRun || isThere;
      return shouldRun !== isThere || (isThere && (daemonSet.status.numberMisscheduled ?? 0) > 0);
    })
    .map(keyOf);
}

export interface DaemonSetPlan {
  readonly plan: Plan;
  /** Keys of the back-off, where failed pods are replaced. */
  readonly failed: readonly string[];
}

export function planDaemonSet(
  daemonSet: SeenDaemonSet,
  world: World,
  { now, backoff }: { readonly now: number; readonly backoff: Pick<FailedPods, 'wait'> },
): DaemonSetPlan {
  // Its revisions may be gone before its pods, so that its status cannot be determined any more.
  if (daemonSet.metadata.deletionTimestamp) return { plan: [], failed: [] };
  const claimed = claim(daemonSet, pods, { world, mayAdopt: world.observed.pods });
  const past = claim(daemonSet, revisions, { world, mayAdopt: world.observed.revisions });
  const { present, older, collisions, actions } = historyOf(daemonSet, past.mine, { world, pods: claimed.mine });
  const nodes = daemonNodesOf(daemonSet, claimed.mine, world);
  const hash = hashOf(present);
  const isUpdated = updatedTest(daemonSet, hash);
  const kept = planNodes(daemonSet, nodes, { isUpdated, now, backoff });
  const changes = changesOf(daemonSet, nodes, { kept, isUpdated, now });
  const pending = perform(daemonSet, changes, hash);
  const status = statusOf(daemonSet, nodes, { isUpdated, collisions, now });
  // Created or deleted pods cause the next plan, which writes the status. A collision is known only to this plan.
  const isSettling = pending.length > 0 && world.failures.length === 0;
  const isSilent = isSettling && collisions === daemonSet.status.collisionCount;
  const plan = [
    ...claimed.actions,
    ...past.actions,
    ...actions,
    ...(isSilent ? [] : changeStatus(DaemonSet, daemonSet, status)),
    ...kept.actions,
    ...pending,
    ...cleanUp(daemonSet, older, claimed.mine),
    ...nextAvailable(claimed.mine, daemonSet.spec.minReadySeconds ?? 0, now),
  ];
  return { plan, failed: kept.failed };
}

function historyOf(
  daemonSet: SeenDaemonSet,
  mine: readonly SeenRevision[],
  { world, pods }: { readonly world: Listers; readonly pods: readonly SeenPod[] },
): History {
  return history(daemonSet as never, {
    kind: DaemonSet,
    revisions: mine,
    pods,
    world,
    hashLabel: REVISION_LABEL,
    markOf: hashOf,
    collisions: daemonSet.status.collisionCount,
    hashOf: (template, _data, collisions) => templateHash(template, collisions),
  });
}

const hashOf = ({ metadata }: SeenRevision) => metadata.labels?.[REVISION_LABEL] ?? metadata.name ?? '';

/** First every node gets its pod; then they are updated. */
function changesOf(
  daemonSet: SeenDaemonSet,
  nodes: DaemonNodes,
  { kept, isUpdated, now }: { readonly kept: Changes; readonly isUpdated: PodTest; readonly now: number },
): Changes {
  const isKept = kept.create.length + kept.remove.length === 0;
  const rolls = daemonSet.spec.updateStrategy.type === 'RollingUpdate';
  return isKept && rolls ? roll(daemonSet, nodes, { isUpdated, now }) : kept;
}

function perform(daemonSet: SeenDaemonSet, changes: Changes, hash: string): readonly Action[] {
  const creating = creationReport(daemonSet);
  const report = deletionReport(daemonSet);
  return [
    ...changes.create
      .slice(0, MAX_PODS_PER_PLAN)
      .map((node) => create(Pod, daemonPod(daemonSet, node, hash), creating)),
    ...changes.remove.slice(0, MAX_PODS_PER_PLAN).map((pod) => remove(Pod, pod, { report })),
  ];
}

/** Deletes the oldest revisions beyond the limit that no pod uses. */
function cleanUp({ spec }: SeenDaemonSet, older: readonly SeenRevision[], pods: readonly SeenPod[]): readonly Action[] {
  const { revisionHistoryLimit = 10 } = spec;
  if (older.length <= revisionHistoryLimit) return [];
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL]));
  const unused = older.filter((revision) => !live.has(hashOf(revision)));
  return forget(unused, older.length - revisionHistoryLimit);
}
