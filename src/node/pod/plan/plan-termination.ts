/** Plans for a pod that ends: its containers stop within the grace period, then its sandbox, then its volumes are released. */
import type { SeenPod } from '../container-run.ts';
import type { Draft } from './draft.ts';
import { mayRun } from './facts.ts';
import { finalPhaseOf } from './phase.ts';
import { liveRecord, planStop, removeRecord } from './plan-container.ts';
import { isDue, removeSandbox, specAt } from './plan-run.ts';
import type { PodFailure, PodState, StopCause } from './state.ts';

const DEFAULT_GRACE_SECONDS = 30;

/** `failure` is that of the state, or one that is decided in this plan. */
export function planTermination(draft: Draft, failure: PodFailure | undefined): void {
  const { pod, state, now } = draft;
  const isDeleted = state.isRemoved || pod.metadata.deletionTimestamp !== undefined;
  const stopRequestedAt = state.stopRequestedAt ?? now;
  if (state.stopRequestedAt === undefined) draft.decide({ type: 'stop' });
  const cause = isDeleted ? 'deleted' : failure ? 'failed' : 'ended';
  const deadline = stopRequestedAt + graceOf(pod, state, failure) * 1_000;
  if (!stopContainers(draft, cause, latestEnd(pod, deadline))) return;
  if (state.endPhase === undefined) {
    draft.decide({ type: 'end', phase: failure ? 'Failed' : finalPhaseOf(pod, state) });
  }
  if (stopSandboxes(draft) && releaseVolumes(draft) && isDeleted) removeAll(draft);
}

/** Returns when the grace period ends. */
function graceOf({ metadata, spec }: SeenPod, { isRemoved }: PodState, failure: PodFailure | undefined): number {
  const { deletionGracePeriodSeconds: deletion, deletionTimestamp } = metadata;
  const own = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  if (deletionTimestamp || isRemoved) return deletion ?? own;
  return failure?.graceSeconds ?? own;
}

/** The deletion timestamp has whole seconds, so the grace period may end up to a second after it. */
function latestEnd({ metadata: { deletionTimestamp } }: SeenPod, deadline: number): number {
  return deletionTimestamp ? Math.min(deadline, Date.parse(deletionTimestamp) + 1_000) : deadline;
}

/** Stops everything, sidecars last and in reverse order; returns whether nothing runs. */
function stopContainers(draft: Draft, cause: StopCause, deadline: number): boolean {
  const { state, now } = draft;
  const graceSeconds = Math.max(0, Math.ceil((deadline - now) / 1_000));
  let isOneRunning = false;
  const stop = (at: number) => {
    const each = state.containers[at]!;
    if (!mayRun(each)) return;
    const live = liveRecord(each);
    isOneRunning = true;
    if (live) planStop(draft, each, live, { cause, container: specAt(draft, at), graceSeconds });
  };
  for (let at = 0; at < state.containers.length; at++) if (state.containers[at]!.role !== 'sidecar') stop(at);
  for (let at = state.containers.length - 1; at >= 0; at--) {
    if (state.containers[at]!.role !== 'sidecar') continue;
    // Who is left at the end of the grace period does not wait for its turn.
    if (!isOneRunning || graceSeconds === 0) stop(at);
  }
  if (isOneRunning && now < deadline) draft.wakeAt(deadline);
  return !isOneRunning;
}

/** Returns whether all are stopped. */
function stopSandboxes(draft: Draft): boolean {
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
function releaseVolumes(draft: Draft): boolean {
  const { volumes, release } = draft.state;
  if (volumes.type === 'doing') return false;
  if (isDue(draft, release)) draft.act({ type: 'release-volumes' });
  return release.type === 'done';
}

/** Removes what an ended pod keeps on its node until it is deleted. */
function removeAll(draft: Draft): void {
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
