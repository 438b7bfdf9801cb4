/** Inputs for the status of a pod. */

import { formatQuantity } from '../../../base/quantity.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { podAmounts } from '../../../kinds/quota/pods.ts';
import type { ContainerRun, RunState, SeenContainer, SeenPod, Termination } from '../container-run.ts';
import type { Phase } from '../phase.ts';
import type { Report } from '../pod-status.ts';
import { exitOf, hasRun, isRunning, isStarted, previousExit, RESTARTING_ALL, readySandbox } from './facts.ts';
import { phaseOfState } from './phase.ts';
import { admittedPod, isResized, resizeError, sizeOf } from './resize.ts';
import type { ContainerState, PodState, StepState } from './state.ts';
import { isToStart, wasStoppedForChange } from './steps/plan-container.ts';
import { type Wait, waitOf } from './wait.ts';

/** Depends on its arguments alone; all that is missing is the address of the node. */
export function podReport(pod: SeenPod, state: PodState, now: number): Omit<Report, 'hostIP'> {
  const { startTime, failure, endPhase, addresses } = state;
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const specs = [...initContainers, ...containers, ...ephemeralContainers];
  const isRejected = failure?.isRejection === true && !state.containers.some(hasRun);
  const wasReached = reachedIn(pod, state);
  const subjectAt = (spec: SeenContainer, at: number) => ({ spec, each: state.containers[at]!, now, wasReached });
  const runs = isRejected ? [] : specs.map((spec, at) => runOf(pod, state, subjectAt(spec, at)));
  return {
    pod,
    phase: reportedPhase(pod, state),
    runs,
    hasSandbox: endPhase === undefined && readySandbox(state) !== undefined,
    now,
    startTime,
    podIP: addresses[0],
    podIPs: addresses,
    failure: endPhase === undefined ? undefined : failure,
    disruption: endPhase === undefined ? undefined : failure?.disruption,
    resize: resizeOf(pod, state),
    ofPod: podResourcesOf(pod, state),
    isRestartingAll: state.isRestartingAll,
  };
}

/** Returns the phase to report: a pod ends only when nothing of it runs. */
export function reportedPhase(pod: SeenPod, state: PodState): Phase {
  if (state.endPhase) return state.endPhase;
  const phase = phaseOfState(pod, state);
  if (phase === 'Pending' || phase === 'Running') return phase;
  const first = pod.spec.initContainers?.length ?? 0;
  const main = state.containers.slice(first, first + pod.spec.containers.length);
  return main.every(hasRun) ? 'Running' : 'Pending';
}

export interface Subject {
  readonly spec: SeenContainer;
  readonly each: ContainerState;
  readonly now: number;
  /** From `reachedIn`, the same for all containers of a pod. */
  readonly wasReached: WasReached;
}

function runOf(pod: SeenPod, state: PodState, subject: Subject): ContainerRun {
  const { spec, each } = subject;
  const shown = shownState(pod, state, subject, shownWait(pod, state, subject));
  return {
    name: each.name,
    role: each.role,
    image: each.ranImage || spec.image || '',
    imageID: each.ranImageId,
    state: shown,
    last: shownExit(each, shown),
    restarts: each.restarts,
    started: isStarted(spec, each),
    ready: isStarted(spec, each) && (each.ready ?? !('readinessProbe' in spec && spec.readinessProbe)),
    actual: each.applied?.own,
    isResizeRejected: state.resizeRejection !== undefined,
  };
}

/** Returns the exit before what is shown. */
export function shownExit(each: ContainerState, shown: RunState): Termination | undefined {
  return (shown.type === 'ended' ? undefined : exitOf(each)) ?? previousExit(each);
}

const isOver = ({ stopRequestedAt, endPhase }: PodState) => stopRequestedAt !== undefined || endPhase !== undefined;

/** Returns what the container waits for; undefined when it does not, or is not to be started. */
export function shownWait(pod: SeenPod, state: PodState, { spec, each, now }: Subject): Wait | undefined {
  if (isOver(state) || isRunning(each) || !isToStart(pod, spec, each)) return undefined;
  return waitOf(pod, spec, each, now);
}

/** Returns the state to report, given `shownWait`. */
export function shownState(pod: SeenPod, state: PodState, subject: Subject, wait: Wait | undefined): RunState {
  const { each, now, wasReached } = subject;
  const newest = each.records[0];
  if (newest?.state === 'running' && each.start.type !== 'doing') {
    return { type: 'running', since: newest.startedAt ?? now, id: newest.statusId };
  }
  if (each.reset && each.records.length === 0 && !isOver(state)) {
    if (state.isRestartingAll) return { type: 'waiting', ...RESTARTING_ALL };
    if (!wait) return waiting(pod, each);
  }
  if (wait) return { type: 'waiting', reason: wait.reason, message: wait.message };
  const { endedAt } = state;
  const isLost = endedAt !== undefined && isOver(state) && !endedByItself(pod, state) && wasReached(each);
  const exit = exitOf(each) ?? (isLost ? neverRan(endedAt) : undefined);
  return exit ? { type: 'ended', ...exit } : waiting(pod, each);
}

/** Reports whether the pod has ended by itself: then a container that never ran still waits. */
const endedByItself = ({ metadata }: SeenPod, { failure, isRemoved }: PodState) =>
  failure === undefined && !isRemoved && metadata.deletionTimestamp === undefined;

/** Tells whether the pod got as far as a container. One that came after others which did not finish still waits at the end. */
export type WasReached = (each: ContainerState) => boolean;

/** The containers are gone through once, when it is first asked; it holds until the state changes. */
export function reachedIn(pod: SeenPod, { containers }: PodState): WasReached {
  const count = pod.spec.initContainers?.length ?? 0;
  let lastInit: number | undefined;
  let isMainReached: boolean | undefined;
  return ({ role, position }) => {
    if (count === 0 || role === 'ephemeral' || position === 0) return true;
    if (position < count) {
      lastInit ??= containers.findLastIndex((each, at) => at < count && hasRun(each));
      return position <= lastInit;
    }
    isMainReached ??= areMainReached(pod, containers, containers[count - 1]!);
    return isMainReached;
  };
}

function areMainReached({ spec }: SeenPod, containers: readonly ContainerState[], last: ContainerState): boolean {
  const hasProbe = Boolean(spec.initContainers?.at(-1)?.startupProbe);
  const isDone = last.role === 'sidecar' ? (last.started ?? (hasRun(last) && !hasProbe)) : exitOf(last)?.exitCode === 0;
  return isDone || containers.some((other) => other.role === 'main' && hasRun(other));
}

function waiting({ spec }: SeenPod, { role }: ContainerState): RunState {
  return spec.initContainers?.length && role !== 'ephemeral' ? INITIALIZING : CREATING;
}

const INITIALIZING: RunState = Object.freeze({ type: 'waiting', reason: 'PodInitializing' });
const CREATING: RunState = Object.freeze({ type: 'waiting', reason: 'ContainerCreating' });

function neverRan(now: number): Termination {
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    finishedAt: now,
    id: '',
  };
}

/** Returns how a change of resources stands; undefined when there is none. */
function resizeOf(pod: SeenPod, state: PodState): Report['resize'] {
  const { resizeRejection: rejection } = state;
  if (rejection) return { type: 'PodResizePending', reason: rejection.reason, message: rejection.message };
  if (!isResized(pod, state)) return undefined;
  const message = resizeError(state);
  return { type: 'PodResizeInProgress', ...(message !== undefined && { reason: 'Error', message }) };
}

/** Returns the resources that the node has admitted for the pod, and the pod-level ones that are in effect. */
function podResourcesOf(pod: SeenPod, state: PodState): Report['ofPod'] {
  const { spec } = admittedPod(pod, state);
  const amounts = [...podAmounts({ ...pod, spec, status: {} } as Pod, 'requests')];
  const allocated = Object.fromEntries(amounts.map(([name, amount]) => [name, formatQuantity(amount)]));
  return {
    resources: (state.sandboxes.length > 0 ? state.size : sizeOf(pod)).resources,
    allocatedResources: amounts.length > 0 ? allocated : undefined,
  };
}

/**
 * Reports whether a container that was stopped for its changed spec is being started again. kubelet stops and starts it
 * within one sync, so that no status shows the time in between; a failure of the start is shown.
 */
export function isReplacingContainer({ containers, stopRequestedAt, endPhase }: PodState): boolean {
  if (stopRequestedAt !== undefined || endPhase !== undefined) return false;
  return containers.some((state) => wasStoppedForChange(state) && isStarting(state));
}

const isStarting = ({ image, start }: ContainerState) => isFirstTry(image) || isFirstTry(start);

const isFirstTry = (step: StepState) => step.type === 'doing' && step.failures === 0;
