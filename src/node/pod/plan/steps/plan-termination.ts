/** Plans for a pod that ends: its containers stop within the grace period, then its sandbox, then its volumes are released. */
import type { SeenPod } from '../../container-run.ts';
import { mayRun, specAt } from '../facts.ts';
import { finalPhaseOf } from '../phase.ts';
import type { PodFailure, PodState, StopCause } from '../state.ts';
import type { PlanDraft } from './draft.ts';
import { graceSecondsOf, isInHook, liveRecord, planStop, removeRecord } from './plan-container.ts';
import { isDue, removeSandbox } from './plan-run.ts';

/** `failure` is that of the state, or one that is decided in this plan. */
export function planTermination(draft: PlanDraft, failure: PodFailure | undefined): void {
  const { pod, state, now } = draft;
  const isDeleted = state.isRemoved || pod.metadata.deletionTimestamp !== undefined;
  const stopRequestedAt = state.stopRequestedAt ?? now;
  if (state.stopRequestedAt === undefined) draft.decide({ type: 'stop' });
  const cause = isDeleted ? 'deleted' : failure ? 'failed' : 'ended';
  const by = latestEnd(pod, stopRequestedAt + graceOf(pod, state, failure) * 1_000);
  if (!stopContainers(draft, cause, by)) return;
  if (state.endPhase === undefined) {
    draft.decide({ type: 'end', phase: failure ? 'Failed' : finalPhaseOf(pod, state) });
  }
  if (stopSandboxes(draft) && releaseVolumes(draft) && isDeleted) removeAll(draft);
}

/** Returns the grace period of the pod, in seconds. */
function graceOf({ metadata, spec }: SeenPod, { isRemoved }: PodState, failure: PodFailure | undefined): number {
  const { deletionGracePeriodSeconds: deletion, deletionTimestamp } = metadata;
  const own = graceSecondsOf(spec);
  if (deletionTimestamp || isRemoved) return deletion ?? own;
  return failure?.graceSeconds ?? own;
}

/** The deletion timestamp has whole seconds, so the grace period may end up to a second after it. */
function latestEnd({ metadata: { deletionTimestamp } }: SeenPod, deadline: number): number {
  return deletionTimestamp ? Math.min(deadline, Date.parse(deletionTimestamp) + 1_000) : deadline;
}

/**
 * Stops everything, sidecars last and in reverse order; returns whether nothing runs. The hooks of sidecars run at once, as those
 * of all others.
 */
function stopContainers(draft: PlanDraft, cause: StopCause, by: number): boolean {
  const { pod, state, now } = draft;
  const { containers } = state;
  const isOver = now >= by;
  /** Returns whether something of it runs. */
  const stop = (at: number): boolean => {
    const each = containers[at]!;
    if (!mayRun(each)) return false;
    const live = liveRecord(each);
    const how = { cause, container: specAt(pod, at), by };
    if (live && !(each.role === 'sidecar' && isInHook(draft, each, live, how))) planStop(draft, each, live, how);
    return true;
  };
  const startHook = (at: number): void => {
    const each = containers[at]!;
    const live = mayRun(each) ? liveRecord(each) : undefined;
    if (live) isInHook(draft, each, live, { cause, container: specAt(pod, at), by });
  };
  const isFirst = draft.stoppedFrom === undefined;
  let isOneRunning = false;
  if (draft.stoppedFrom === undefined) {
    for (const { role, position } of containers) if (role !== 'sidecar' && stop(position)) isOneRunning = true;
    if (!isOneRunning) draft.stoppedFrom = containers.length;
  }
  for (let at = (draft.stoppedFrom ?? containers.length) - 1; at >= 0; at--) {
    const isSidecar = containers[at]!.role === 'sidecar';
    // One that is left at the end of the grace period does not wait for its turn.
    if (isOneRunning && !isOver) {
      if (!isFirst) break;
      if (isSidecar) startHook(at);
    } else if (isSidecar && stop(at)) isOneRunning = true;
    if (!isOneRunning) draft.stoppedFrom = at;
  }
  if (isOneRunning && !isOver) draft.wakeAt(by);
  return !isOneRunning;
}

/** Returns whether all are stopped. */
function stopSandboxes(draft: PlanDraft): boolean {
  const { state } = draft;
  let isStopped = state.sandbox.type !== 'doing';
  for (const { id, stop } of state.sandboxes) {
    if (stop.type === 'done') continue;
    isStopped = false;
    if (isDue(draft, stop)) draft.act({ type: 'stop-sandbox', id });
  }
  return isStopped;
}

/** Returns whether they are released. */
function releaseVolumes(draft: PlanDraft): boolean {
  const { volumes, release } = draft.state;
  if (volumes.type === 'doing') return false;
  if (isDue(draft, release)) draft.act({ type: 'release-volumes' });
  return release.type === 'done';
}

/** Removes what an ended pod keeps on its node until it is deleted. */
function removeAll(draft: PlanDraft): void {
  const { state } = draft;
  let isLeft = false;
  for (const sandbox of state.sandboxes) {
    isLeft = true;
    removeSandbox(draft, sandbox);
  }
  for (const container of state.containers) {
    for (const record of container.records) {
      isLeft = true;
      const isInSandbox = state.sandboxes.some(({ id }) => id === record.sandboxId);
      if (!isInSandbox) removeRecord(draft, container, record);
    }
  }
  if (isLeft) return;
  if (isDue(draft, state.cleanUp)) draft.act({ type: 'clean-up' });
  draft.isFinished = state.cleanUp.type === 'done';
}
