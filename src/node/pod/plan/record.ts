/** Changes the state of a pod: what was planned, how actions ended, and what the runtime reports. */

import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { extended } from '../../../base/json/tree.ts';
import type { Termination } from '../container-run.ts';
import type { Action, ActionOutcome, Plan } from './action.ts';
import { crashesAfter, delayAfter, ERROR_SHOWN_MS, LOCAL_IMAGE_ERRORS, RETRY_MS, volumeDelay } from './back-off.ts';
import { endTimesOf, exitOf, lostExit, RESTARTING_ALL } from './facts.ts';
import {
  type ContainerRecord,
  type ContainerState,
  DONE,
  type PodSize,
  type PodState,
  type SandboxRecord,
  type StepState,
  TO_DO,
} from './state.ts';

/** Takes note of a plan, before its actions are performed. */
export function begin(state: PodState, plan: Plan, now: number): void {
  for (const decision of plan.decisions) {
    switch (decision.type) {
      case 'fail':
        state.failure = decision.failure;
        break;
      case 'stop':
        state.stopRequestedAt = now;
        break;
      case 'end':
        state.endPhase = decision.phase;
        state.endedAt = now;
        break;
      case 'restart-all':
        state.isRestartingAll = true;
        for (const each of state.containers) {
          if (each.role !== 'ephemeral') each.reset = decision.sources.has(each.position) ? 'source' : 'target';
        }
        break;
      case 'start-over':
        state.isRestartingAll = false;
        state.furthest = undefined;
        break;
      case 'announce':
        state.containers[decision.position]!.announced = decision.until;
        break;
    }
  }
  for (const action of plan.actions) beginAction(state, action, now);
  state.settled = plan.settled;
}

function beginAction(state: PodState, action: Action, now: number): void {
  switch (action.type) {
    case 'prepare-volumes':
      state.volumes = doing(state.volumes, now);
      break;
    case 'run-sandbox':
      state.sandbox = doing(state.sandbox, now);
      break;
    case 'resize-sandbox':
      state.resizing = doing(state.resizing, now);
      break;
    case 'stop-sandbox':
      changeSandbox(state, action.id, 'stop', (stop) => doing(stop, now));
      break;
    case 'remove-sandbox':
      changeSandbox(state, action.id, 'removal', (removal) => doing(removal, now));
      break;
    case 'release-volumes':
      state.release = doing(state.release, now);
      break;
    case 'clean-up':
      state.cleanUp = doing(state.cleanUp, now);
      break;
    default:
      beginContainer(state.containers[action.position]!, action, now);
  }
}

type ContainerAction = Extract<Action, { readonly container: string }>;

function beginContainer(state: ContainerState, action: ContainerAction, now: number): void {
  switch (action.type) {
    case 'pull-image':
      state.image = doing(state.imageName === action.image ? state.image : TO_DO, now);
      state.imageName = action.image;
      break;
    case 'start-container':
      state.start = doing(state.start, now);
      state.startAttempt = action.attempt;
      break;
    case 'pre-stop':
      state.preStop = { id: action.id, step: doing(TO_DO, now) };
      break;
    case 'stop-container': {
      const { id, cause } = action;
      const step = state.stop?.id === id ? state.stop.step : TO_DO;
      state.stop = { id, cause, by: action.by, step: doing(step, now) };
      break;
    }
    case 'remove-container':
      state.removals = [...state.removals, action.id];
      break;
    case 'update-resources':
      state.update = doing(state.update, now);
      break;
  }
}

const doing = (step: StepState, since: number): StepState => ({ type: 'doing', since, failures: failuresOf(step) });

const failuresOf = (step: StepState) => (step.type === 'failed' || step.type === 'doing' ? step.failures : 0);

/** Takes note of how an action ended. What it has created or stopped is known when the runtime has been listed again. */
export function finish(state: PodState, action: Action, outcome: ActionOutcome, now: number): void {
  state.revision++;
  switch (action.type) {
    case 'prepare-volumes':
      state.volumes = stepAfter(state.volumes, outcome, now, volumeDelay);
      break;
    case 'run-sandbox':
      state.sandbox = stepAfter(state.sandbox, outcome, now, retryDelay);
      if (outcome.type === 'done') setSize(state, action.size);
      break;
    case 'resize-sandbox':
      state.resizing = stepAfter(state.resizing, outcome, now, retryDelay);
      if (outcome.type === 'done') setSize(state, action.size);
      break;
    case 'stop-sandbox':
      changeSandbox(state, action.id, 'stop', (stop) => stepAfter(stop, outcome, now, removalDelay));
      break;
    case 'remove-sandbox':
      changeSandbox(state, action.id, 'removal', (removal) => stepAfter(removal, outcome, now, removalDelay));
      if (outcome.type === 'done') dropSandbox(state, action.id, now);
      break;
    case 'release-volumes':
      state.release = stepAfter(state.release, outcome, now, removalDelay);
      break;
    case 'clean-up':
      state.cleanUp = stepAfter(state.cleanUp, outcome, now, removalDelay);
      break;
    default:
      finishContainer(state, action, outcome, now);
  }
}

function finishContainer(pod: PodState, action: ContainerAction, outcome: ActionOutcome, now: number): void {
  const state = pod.containers[action.position]!;
  touch(pod, state);
  switch (action.type) {
    case 'pull-image':
      if (state.imageName !== action.image) return;
      state.image = stepAfter(state.image, outcome, now, pullDelay(outcome));
      if (outcome.type === 'done') state.imageId = outcome.imageId ?? action.image;
      break;
    case 'start-container':
      state.start = stepAfter(state.start, outcome, now, retryDelay);
      // The next attempt looks for the image again.
      state.image = TO_DO;
      if (outcome.type === 'done') setApplied(state, action);
      break;
    case 'pre-stop':
      // A hook that fails is no reason to run it again.
      if (state.preStop?.id === action.id) state.preStop = { id: action.id, step: DONE };
      break;
    case 'stop-container':
      if (state.stop?.id === action.id) {
        state.stop = { ...state.stop, step: stepAfter(state.stop.step, outcome, now, removalDelay) };
      }
      break;
    case 'remove-container':
      state.removals = state.removals.filter((id) => id !== action.id);
      if (outcome.type === 'done') {
        const records = state.records.filter(({ id }) => id !== action.id);
        setRecords(pod, state, records, now);
      }
      break;
    case 'update-resources':
      state.update = outcome.type === 'done' ? TO_DO : stepAfter(state.update, outcome, now, retryDelay);
      if (outcome.type === 'done') setApplied(state, action);
      break;
  }
}

function setSize(state: PodState, size: PodSize): void {
  state.size = size;
  state.resizing = TO_DO;
}

type Resized = Pick<Extract<Action, { readonly type: 'update-resources' }>, 'resources' | 'podResources'>;

function setApplied(state: ContainerState, { resources, podResources }: Resized): void {
  state.applied = { own: resources, ofPod: podResources };
}

function stepAfter(
  step: StepState,
  outcome: ActionOutcome,
  now: number,
  delay: (failures: number) => number,
): StepState {
  if (outcome.type === 'done') return DONE;
  const failures = failuresOf(step) + 1;
  const { reason, message } = outcome;
  return { type: 'failed', reason, message, failures, failedAt: now, retryAt: now + delay(failures) };
}

const retryDelay = () => RETRY_MS;

const MAX_REMOVAL_RETRY_MS = 10_000;
/** Computes the delay before a failed removal is retried. */
const removalDelay = (failures: number) => Math.min(MAX_REMOVAL_RETRY_MS, 1_000 * 2 ** Math.min(failures - 1, 10));

/** Only failures of a registry back off. */
function pullDelay(outcome: ActionOutcome): (failures: number) => number {
  const isLocal = outcome.type === 'failed' && LOCAL_IMAGE_ERRORS.has(outcome.reason);
  return isLocal ? retryDelay : (failures) => ERROR_SHOWN_MS + delayAfter(failures);
}

/** Containers and sandboxes of a pod that the runtime reports. */
export interface Listing {
  /** `state.revision` when the listing was begun. */
  readonly revision: number;
  readonly sandboxes: readonly SandboxRecord[];
  readonly containers: readonly ContainerRecord[];
}

/** Takes note of a listing; returns false, and does nothing, when something has ended since it was begun. */
export function observe(state: PodState, listing: Listing, now: number): boolean {
  if (listing.revision !== state.revision) return false;
  setSandboxes(state, listing.sandboxes);
  state.settled = undefined;
  if (listing.containers.length === 0 && state.containers.every(isUntouched)) return true;
  const byName = new Map<string, ContainerRecord[]>();
  for (const record of listing.containers) {
    getOrInsert(byName, record.name, () => []).push(record);
  }
  for (const container of state.containers) {
    const records = byName.get(container.name) ?? NO_RECORDS;
    const sorted = records.length > 1 ? records.toSorted((a, b) => b.attempt - a.attempt) : records;
    setRecords(state, container, sorted, now);
    expectObserved(container, now);
  }
  return true;
}

/** True for a container that was never tried, so that no record of it can be missing. */
const isUntouched = ({ records, start, stop }: ContainerState) =>
  records.length === 0 && start.type === 'to-do' && stop === undefined;

const NO_RECORDS: readonly ContainerRecord[] = Object.freeze([]);

/** A fresh listing must show what was started or stopped before; if it does not, that is tried again later. */
function expectObserved(state: ContainerState, now: number): void {
  if (state.start.type === 'done' && isStarted(state)) state.start = TO_DO;
  if (state.start.type === 'done') {
    const message = 'the container is not known to the runtime after its start';
    state.start = failedStep('RunContainerError', message, now);
  }
  const { stop, records } = state;
  if (stop?.step.type !== 'done') return;
  const stopped = records.find(({ id }) => id === stop.id);
  if (stopped?.state === 'running' || stopped?.state === 'unknown') {
    state.stop = { ...stop, step: failedStep('', 'the container runs after it was stopped', now) };
  }
}

/** Reports whether the newest start has its record. A listing may have shown it before the start had ended. */
const isStarted = ({ records: [newest], startAttempt }: ContainerState) =>
  newest !== undefined && newest.attempt === startAttempt && newest.state !== 'created';

const failedStep = (reason: string, message: string, now: number): StepState => ({
  type: 'failed',
  reason,
  message,
  failures: 1,
  failedAt: now,
  retryAt: now + RETRY_MS,
});

function setSandboxes(state: PodState, sandboxes: readonly SandboxRecord[]): void {
  const known = state.sandboxes;
  state.sandboxes = sandboxes
    .map((each) => {
      const before = known.find(({ id }) => id === each.id);
      return { ...each, stop: before?.stop ?? TO_DO, removal: before?.removal ?? TO_DO };
    })
    .sort((a, b) => b.attempt - a.attempt);
  const newest = state.sandboxes[0];
  if (newest?.isReady && newest.addresses.length > 0) state.addresses = newest.addresses;
  if (state.sandbox.type === 'done') state.sandbox = TO_DO;
}

/** Takes note of a sandbox that was created, for executors that need no listing. */
export function addSandbox(state: PodState, sandbox: SandboxRecord): void {
  state.revision++;
  state.sandbox = TO_DO;
  state.sandboxes = [extended(sandbox, { stop: TO_DO, removal: TO_DO }), ...state.sandboxes];
  if (sandbox.addresses.length > 0) state.addresses = sandbox.addresses;
}

/** Sets what exists of a container, newest first. */
export function setRecords(
  pod: PodState,
  state: ContainerState,
  records: readonly ContainerRecord[],
  now: number,
): void {
  touch(pod, state);
  const before = state.records[0];
  const newest = records[0];
  if (before && before.state !== 'created' && !records.some(({ id }) => id === before.id)) {
    state.lastExit = before.state === 'exited' ? lastExitOf(state) : lostExit(before, now);
  }
  const isKnown = newest?.id === before?.id && before?.state !== 'created';
  if (newest && newest.state !== 'created' && !isKnown) {
    if (newest.attempt > 0) countRestart(state, newest);
    resetForStart(state);
    state.ranImage = newest.image;
    state.ranImageId = newest.imageId;
    noteStart(pod, state, newest.sandboxId);
  }
  state.records = records;
}

/** One that was removed to restart all containers says so; the next agent knows it by that. */
function lastExitOf(state: ContainerState): Termination | undefined {
  const exit = exitOf(state);
  return exit && state.reset === 'target' ? { ...exit, ...RESTARTING_ALL, exitCode: 137 } : exit;
}

/** Limits what was settled to the containers before this one. */
export function touch(pod: PodState, { position }: ContainerState): void {
  if (pod.settled && position < pod.settled.before) pod.settled = { ...pod.settled, before: position };
}

function noteStart(pod: PodState, { role, position }: ContainerState, sandboxId: string): void {
  if (role === 'ephemeral' || pod.sandboxes[0]?.id !== sandboxId) return;
  if (pod.furthest?.sandboxId === sandboxId && pod.furthest.position >= position) return;
  pod.furthest = { sandboxId, position };
}

function countRestart(state: ContainerState, newest: ContainerRecord): void {
  const image = state.records.find((record) => record.state !== 'created')?.image ?? newest.image;
  state.crashes = image === newest.image ? crashesAfter(state.crashes, endTimesOf(state)?.ranMs ?? 0) : 0;
  state.restarts = Math.max(state.restarts, newest.attempt);
}

/** Forgets what was true of the attempt before. */
function resetForStart(state: ContainerState): void {
  if (state.start.type === 'done') state.start = TO_DO;
  state.stop = undefined;
  state.update = TO_DO;
  state.started = undefined;
  state.ready = undefined;
  state.live = undefined;
  state.reset = undefined;
  state.announced = undefined;
}

function changeSandbox(
  { sandboxes }: PodState,
  id: string,
  step: 'stop' | 'removal',
  change: (before: StepState) => StepState,
): void {
  for (const sandbox of sandboxes) if (sandbox.id === id) sandbox[step] = change(sandbox[step]);
}

/** The runtime has removed it with the containers in it. */
function dropSandbox(state: PodState, id: string, now: number): void {
  state.sandboxes = state.sandboxes.filter((each) => each.id !== id);
  for (const container of state.containers) {
    if (container.records.some(({ sandboxId }) => sandboxId === id)) {
      const records = container.records.filter(({ sandboxId }) => sandboxId !== id);
      setRecords(state, container, records, now);
    }
  }
}
