/** Plans for a pod that is to run: its volumes, its sandbox, and its containers in order. */
import type { SeenContainer } from '../container-run.ts';
import type { Draft } from './draft.ts';
import { hasRunIn, isRunning, readySandbox } from './facts.ts';
import { liveRecord, planContainer, planStart, planStop, removeRecord } from './plan-container.ts';
import type { ContainerState, SandboxState, StepState } from './state.ts';

/** Plans the next steps of a pod in which something is to run. */
export function planRun(draft: Draft): void {
  const { state } = draft;
  const sandbox = readySandbox(state);
  const isLeft = leaveOldSandboxes(draft, sandbox);
  if (state.volumes.type !== 'done') {
    if (isDue(draft, state.volumes)) draft.act({ type: 'prepare-volumes' });
  } else if (sandbox) {
    planContainers(draft, sandbox.id);
  } else if (isLeft && isDue(draft, state.sandbox)) {
    draft.act({ type: 'run-sandbox', attempt: nextSandboxAttempt(state.sandboxes) });
  }
}

/** Whether the step is to be begun now. */
export function isDue(draft: Draft, step: StepState): boolean {
  return step.type === 'to-do' || (step.type === 'failed' && draft.isDue(step.retryAt));
}

const nextSandboxAttempt = ([newest]: readonly SandboxState[]) => (newest ? newest.attempt + 1 : 0);

/** Stops what is in sandboxes that are not used any more; returns whether nothing of it runs. */
function leaveOldSandboxes(draft: Draft, ready: SandboxState | undefined): boolean {
  const { state } = draft;
  let isLeft = true;
  for (const sandbox of state.sandboxes) {
    if (sandbox === ready) continue;
    if (!leaveSandbox(draft, sandbox)) isLeft = false;
  }
  return isLeft;
}

function leaveSandbox(draft: Draft, sandbox: SandboxState): boolean {
  const { pod, state } = draft;
  const { stop, id } = sandbox;
  let isEmpty = true;
  let isKept = false;
  for (const [at, container] of state.containers.entries()) {
    const live = liveRecord(container);
    if (live?.sandboxId === id) {
      isEmpty = false;
      const graceSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
      planStop(draft, container, live, { cause: 'sandbox', container: specAt(draft, at), graceSeconds });
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

export function removeSandbox(draft: Draft, { id, removal }: SandboxState): void {
  if (isDue(draft, removal)) draft.act({ type: 'remove-sandbox', id });
}

/** Returns the spec of the container at that position of the state. */
export function specAt({ pod: { spec } }: Draft, position: number): SeenContainer {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  if (position < initContainers.length) return initContainers[position]!;
  const other = position - initContainers.length;
  return containers[other] ?? ephemeralContainers[other - containers.length]!;
}

/** Init containers run one by one, then all others; ephemeral containers run at any time. */
function planContainers(draft: Draft, sandboxId: string): void {
  const { pod, state } = draft;
  const { containers } = state;
  const { initContainers = [], containers: main } = pod.spec;
  const firstEphemeral = initContainers.length + main.length;
  const isInitialized = planInit(draft, sandboxId);
  for (let at = isInitialized ? initContainers.length : firstEphemeral; at < containers.length; at++) {
    planContainer(draft, specAt(draft, at), containers[at]!);
  }
  for (let at = 0; at < containers.length; at++) pruneRecords(draft, containers[at]!);
}

/** Plans for init containers and sidecars; returns whether the main containers may run. */
function planInit(draft: Draft, sandboxId: string): boolean {
  const { pod, state } = draft;
  const { initContainers = [], containers: main } = pod.spec;
  const count = initContainers.length;
  if (count === 0) return true;
  const isInitialized = anyRanIn(state.containers, sandboxId, count, count + main.length);
  const last = isInitialized ? count : lastRunIn(state.containers, sandboxId, count);
  for (let at = 0; at < count; at++) {
    const container = initContainers[at]!;
    const each = state.containers[at]!;
    if (each.role === 'sidecar') {
      planContainer(draft, container, each);
      // One that has started before does not hold back what was started after it.
      if (at >= last && !isStarted(container, each)) return false;
    } else if (at >= last && !hasSucceededIn(each, sandboxId)) {
      planInitContainer(draft, container, each, sandboxId);
      return false;
    }
  }
  return true;
}

function anyRanIn(states: readonly ContainerState[], sandboxId: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (hasRunIn(states[at]!, sandboxId)) return true;
  return false;
}

/** Returns the position of the last init container that was started in the sandbox; -1: none. */
function lastRunIn(states: readonly ContainerState[], sandboxId: string, count: number): number {
  for (let at = count - 1; at >= 0; at--) if (hasRunIn(states[at]!, sandboxId)) return at;
  return -1;
}

function hasSucceededIn(state: ContainerState, sandboxId: string): boolean {
  const [newest] = state.records;
  return newest?.sandboxId === sandboxId && newest.state === 'exited' && newest.exitCode === 0;
}

/** In a new sandbox, init containers run again. */
function planInitContainer(draft: Draft, container: SeenContainer, state: ContainerState, sandboxId: string): void {
  const isFresh = !liveRecord(state) && !hasRunIn(state, sandboxId);
  if (isFresh) planStart(draft, container, state);
  else planContainer(draft, container, state);
}

/** Whether the containers after a sidecar may start. */
export function isStarted(container: SeenContainer, state: ContainerState): boolean {
  if (!isRunning(state) || state.start.type === 'doing') return false;
  return state.started ?? !('startupProbe' in container && container.startupProbe);
}

/** Removes what the runtime keeps of attempts before the previous one. */
function pruneRecords(draft: Draft, state: ContainerState): void {
  const { records } = state;
  for (let at = KEPT_RECORDS; at < records.length; at++) {
    const record = records[at]!;
    if (record.state === 'exited' || record.state === 'created') removeRecord(draft, state, record);
  }
}

/** The newest attempt, and the one before it for its logs. */
const KEPT_RECORDS = 2;
