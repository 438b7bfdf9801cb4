/** Plans for a pod that is to run: its volumes, its sandbox, and its containers in order. */
import type { SeenContainer } from '../../container-run.ts';
import { isTerminalPhase } from '../../phase.ts';
import { hasRunIn, isStarted, readySandbox, specAt } from '../facts.ts';
import { phaseOfState } from '../phase.ts';
import { hasChanged, isMissized, sizeOf } from '../resize.ts';
import type { ContainerState, PodState, SandboxState, StepState } from '../state.ts';
import type { PlanDraft } from './draft.ts';
import { graceSecondsOf, isToStart, liveRecord, planContainer, planStart, planStop } from './plan-container.ts';
import { planRestartAll } from './plan-restart-all.ts';

/** Plans the next steps of a pod in which something is to run; returns false when nothing can run in it any more. */
export function planRun(draft: PlanDraft): boolean {
  const { pod, state } = draft;
  const sandbox = readySandbox(state);
  if (sandbox && planRestartAll(draft, sandbox.id)) return true;
  // Before the main containers run, its init containers decide.
  const isInitializing = sandbox !== undefined && !isInitialized(draft, sandbox.id);
  if (!isInitializing && isTerminalPhase(phaseOfState(pod, state))) return false;
  const isLeft = leaveOldSandboxes(draft, sandbox);
  if (state.volumes.type !== 'done') {
    if (isDue(draft, state.volumes)) draft.act({ type: 'prepare-volumes' });
  } else if (sandbox) {
    return isSandboxResized(draft, sandbox) || planContainers(draft, sandbox.id);
  } else if (isLeft && isDue(draft, state.sandbox)) {
    draft.act({ type: 'run-sandbox', attempt: nextSandboxAttempt(state.sandboxes), size: sizeOf(pod) });
  }
  return true;
}

/** Reports whether the step is to begin now. */
export function isDue(draft: PlanDraft, step: StepState): boolean {
  return step.type === 'to-do' || (step.type === 'failed' && draft.isDue(step.retryAt));
}

const nextSandboxAttempt = ([newest]: readonly SandboxState[]) => (newest ? newest.attempt + 1 : 0);

/**
 * Gives the sandbox its size, before its containers get theirs; returns whether that is under way. A pod that cannot become
 * smaller than its containers gets its size after them.
 */
function isSandboxResized(draft: PlanDraft, { id }: SandboxState): boolean {
  const { pod, state } = draft;
  const { resizing } = state;
  if (resizing.type === 'doing') return true;
  if (!isMissized(pod, state)) return false;
  const isSecond = resizing.type === 'failed' && resizing.failures === 1;
  if (isSecond ? hasChanged(pod, state) : !isDue(draft, resizing)) return false;
  draft.act({ type: 'resize-sandbox', id, size: sizeOf(pod) });
  return true;
}

/** Stops what is in sandboxes that are not used any more; returns whether nothing of it runs. */
function leaveOldSandboxes(draft: PlanDraft, ready: SandboxState | undefined): boolean {
  const { state } = draft;
  let isLeft = true;
  for (const sandbox of state.sandboxes) {
    if (sandbox === ready) continue;
    if (!leaveSandbox(draft, sandbox)) isLeft = false;
  }
  return isLeft;
}

function leaveSandbox(draft: PlanDraft, sandbox: SandboxState): boolean {
  const { pod, state } = draft;
  const { stop, id } = sandbox;
  let isEmpty = true;
  let isKept = false;
  for (const [at, container] of state.containers.entries()) {
    const live = liveRecord(container);
    if (live?.sandboxId === id) {
      isEmpty = false;
      const by = draft.now + graceSecondsOf(pod.spec) * 1_000;
      planStop(draft, container, live, { cause: 'sandbox', container: specAt(pod, at), by });
    }
    isKept ||= container.records.some(({ sandboxId }) => sandboxId === id);
  }
  if (!isEmpty) return false;
  if (isDue(draft, stop)) {
    if (stop.type === 'to-do' && sandbox === state.sandboxes[0]) {
      draft.event('Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    }
    draft.act({ type: 'stop-sandbox', id });
  }
  if (stop.type !== 'done') return false;
  if (!isKept && sandbox !== state.sandboxes[0]) removeSandbox(draft, sandbox);
  return true;
}

export function removeSandbox(draft: PlanDraft, { id, removal }: SandboxState): void {
  if (isDue(draft, removal)) draft.act({ type: 'remove-sandbox', id });
}

/** Reports whether main containers may run: one has been started in the sandbox, or there are no init containers. */
function isInitialized({ pod, state }: PlanDraft, sandboxId: string): boolean {
  const count = pod.spec.initContainers?.length ?? 0;
  return count === 0 || furthestIn(state, sandboxId) >= count;
}

/** Returns the position of the furthest container that was started in the sandbox; -1: none. */
function furthestIn({ furthest }: PodState, sandboxId: string): number {
  return furthest?.sandboxId === sandboxId ? furthest.position : -1;
}

/**
 * Init containers run one by one, then all others; ephemeral containers run at any time. Returns false when an init container
 * has failed for good.
 */
function planContainers(draft: PlanDraft, sandboxId: string): boolean {
  const { pod, state } = draft;
  const { containers } = state;
  const { initContainers = [], containers: main } = pod.spec;
  const firstMain = initContainers.length;
  const progress = planInit(draft, sandboxId);
  if (progress === 'failed') return false;
  const isDone = progress === 'done';
  for (
    let at = isDone ? Math.max(firstMain, draft.settledBefore) : firstMain + main.length;
    at < containers.length;
    at++
  ) {
    planContainer(draft, specAt(pod, at), containers[at]!);
    if (isDone) draft.settle(at);
  }
  return true;
}

/** Plans for init containers and sidecars. */
function planInit(draft: PlanDraft, sandboxId: string): 'done' | 'waiting' | 'failed' {
  const { pod, state } = draft;
  const { initContainers = [] } = pod.spec;
  const furthest = furthestIn(state, sandboxId);
  for (let at = draft.settledBefore; at < initContainers.length; at++) {
    const container = initContainers[at]!;
    const each = state.containers[at]!;
    if (each.role === 'sidecar') {
      planContainer(draft, container, each);
      // One that has started before does not hold back what was started after it.
      if (at >= furthest && !isStarted(container, each)) return 'waiting';
    } else if (at >= furthest && !hasSucceededIn(each, sandboxId)) {
      return planInitContainer(draft, container, each, sandboxId) ? 'waiting' : 'failed';
    }
    draft.settle(at);
  }
  return 'done';
}

function hasSucceededIn(state: ContainerState, sandboxId: string): boolean {
  const [newest] = state.records;
  return newest?.sandboxId === sandboxId && newest.state === 'exited' && newest.exitCode === 0;
}

/** In a new sandbox, init containers run again. Returns false when it has failed for good. */
function planInitContainer(
  draft: PlanDraft,
  container: SeenContainer,
  state: ContainerState,
  sandboxId: string,
): boolean {
  if (liveRecord(state)) planContainer(draft, container, state);
  else if (!hasRunIn(state, sandboxId) || isToStart(draft.pod, container, state)) planStart(draft, container, state);
  else return false;
  return true;
}
