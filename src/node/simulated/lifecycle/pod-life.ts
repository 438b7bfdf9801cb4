/**
 * The simulated state of a pod. It is derived from the pod's status, so that a pod continues where it was when the program
 * restarts.
 */
import { trueRestarts } from '../../../kinds/groups/core/pod/restart-counts.ts';
import type { ContainerRun, Role, RunState, SeenContainer, SeenPod, Termination } from '../../pod/container-run.ts';
import { isTerminalPhase, type Phase } from '../../pod/phase.ts';
import type { Stages } from '../rules/rules.ts';
import { delayAfter } from './back-off.ts';

/** A container and its next steps. */
export interface SimulatedRun extends ContainerRun {
  /** Its position among all containers of the pod. */
  readonly position: number;
  image: string;
  imageID: string;
  state: RunState;
  last: Termination | undefined;
  restarts: number;
  ready: boolean;
  /** While it waits: when it starts; undefined until it is its turn. */
  startsAt: number | undefined;
  /** When the pull began; undefined when no pull is in progress. */
  pullStartedAt: number | undefined;
  /** While it runs. */
  readyAt: number | undefined;
  endsAt: number | undefined;
  /** When it fails its probes. */
  livenessFailsAt: number | undefined;
  readinessFailsAt: number | undefined;
  /** Whether its next steps have been decided. */
  isPlanned: boolean;
  /** Failures in a row, of pulls or runs, which determine the back-off. */
  failures: number;
}

export interface PodLife {
  /** As last seen by the informer. */
  pod: SeenPod;
  stages: Stages;
  readonly startTime: number;
  phase: Phase;
  /** Undefined until the pod has its sandbox. */
  address: string | undefined;
  /** Whether it has its sandbox, which a terminated pod has given up. */
  hasSandbox: boolean;
  sandboxAt: number;
  runs: SimulatedRun[];
  /** When its containers were asked to stop, and when they do; undefined while nobody has asked. */
  stopRequestedAt: number | undefined;
  stopsAt: number | undefined;
  /** Nothing is left on the node: the pod can be deleted. */
  isTerminated: boolean;
  failure: { readonly reason: string; readonly message: string } | undefined;
}

export interface PodLifeOptions {
  readonly pod: SeenPod;
  readonly stages: Stages;
  readonly now: number;
  /** Milliseconds until it has its sandbox. */
  readonly sandboxTakes: number;
}

export function newPodLife({ pod, stages, now, sandboxTakes }: PodLifeOptions): PodLife {
  const { status } = pod;
  const hasPlace = status.podIP !== undefined;
  const startTime = timeOf(status.startTime, now);
  const { reason, message } = status;
  return {
    pod,
    stages,
    startTime,
    phase: (status.phase as Phase | undefined) ?? 'Pending',
    address: status.podIP,
    hasSandbox: hasPlace && !isTerminalPhase(status.phase),
    sandboxAt: hasPlace ? startTime : now + sandboxTakes,
    runs: runsOf(pod, now),
    stopRequestedAt: undefined,
    stopsAt: undefined,
    isTerminated: false,
    failure: isTerminalPhase(status.phase) && reason ? { reason, message: message ?? '' } : undefined,
  };
}

/** Returns all containers of the pod, init containers first, with the state that its status shows. */
function runsOf(pod: SeenPod, now: number): SimulatedRun[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const known = { pod, now, reported: reportedIn(pod) };
  return [
    ...initContainers.map((each) => ({ container: each, role: each.restartPolicy === 'Always' ? 'sidecar' : 'init' })),
    ...containers.map((container) => ({ container, role: 'main' })),
    ...ephemeralContainers.map((container) => ({ container, role: 'ephemeral' })),
  ].map(({ container, role }, position) => runOf(container, { role: role as Role, position }, known));
}

/** Ephemeral containers that were added to the pod. */
export function addedRuns(
  pod: SeenPod,
  containers: readonly SeenContainer[],
  { first, now }: { readonly first: number; readonly now: number },
): SimulatedRun[] {
  const known = { pod, now, reported: reportedIn(pod) };
  return containers.map((container, at) => runOf(container, { role: 'ephemeral', position: first + at }, known));
}

/** What the status of a pod says of a container. */
interface Reported {
  readonly status: Status;
  readonly restarts: number;
}

/** By list and name. */
function reportedIn({ metadata, status }: SeenPod): ReadonlyMap<string, Reported> {
  const out = new Map<string, Reported>();
  for (const list of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    const statuses = status[list] ?? [];
    const restarts = trueRestarts(metadata.annotations, statuses);
    for (const [at, each] of statuses.entries()) {
      out.set(`${list} ${each.name}`, { status: each, restarts: restarts[at] ?? 0 });
    }
  }
  return out;
}

interface Known {
  readonly pod: SeenPod;
  readonly now: number;
  readonly reported: ReadonlyMap<string, Reported>;
}

function runOf(
  container: SeenContainer,
  { role, position }: Pick<SimulatedRun, 'role' | 'position'>,
  { pod, now, reported }: Known,
): SimulatedRun {
  const { status: known, restarts = 0 } = reported.get(`${STATUS_LISTS[role]} ${container.name}`) ?? {};
  const last = known?.lastState.terminated && endedOf(known.lastState.terminated, now);
  const state = known ? stateOf(known, now) : waitingState(pod);
  // One that waits after a termination waits for its next start, after the back-off that its message states.
  const isBackingOff = last !== undefined && state.type === 'waiting';
  return {
    name: container.name,
    role,
    position,
    image: known?.image || container.image || '',
    imageID: known?.imageID ?? '',
    state,
    last,
    restarts,
    ready: known?.ready ?? false,
    startsAt: isBackingOff ? last.finishedAt + delayAfter(restarts) : undefined,
    pullStartedAt: undefined,
    readyAt: undefined,
    endsAt: undefined,
    livenessFailsAt: undefined,
    readinessFailsAt: undefined,
    isPlanned: false,
    failures: isBackingOff ? restarts + 1 : restarts,
  };
}

/** The state of a container before its first start. */
const waitingState = ({ spec }: SeenPod): RunState => (spec.initContainers?.length ? INITIALIZING : CREATING);

const INITIALIZING: RunState = Object.freeze({ type: 'waiting', reason: 'PodInitializing' });
const CREATING: RunState = Object.freeze({ type: 'waiting', reason: 'ContainerCreating' });

type Status = NonNullable<SeenPod['status']['containerStatuses']>[number];

const STATUS_LISTS = {
  main: 'containerStatuses',
  init: 'initContainerStatuses',
  sidecar: 'initContainerStatuses',
  ephemeral: 'ephemeralContainerStatuses',
} as const;

function stateOf({ state, containerID = '' }: Status, now: number): RunState {
  if (state.running) return { type: 'running', since: timeOf(state.running.startedAt, now), id: containerID };
  if (state.terminated) return { type: 'ended', ...endedOf(state.terminated, now) };
  const { reason = 'ContainerCreating', message } = state.waiting ?? {};
  return { type: 'waiting', reason, ...(message ? { message } : {}) };
}

function endedOf(terminated: NonNullable<Status['state']['terminated']>, now: number): Termination {
  const { exitCode, reason = '', message, startedAt, finishedAt, containerID = '' } = terminated;
  return {
    exitCode,
    reason,
    message,
    startedAt: startedAt === undefined ? undefined : timeOf(startedAt, now),
    finishedAt: timeOf(finishedAt, now),
    id: containerID,
  };
}

/** Clients can write a status. A time that is missing from it is now: timers need numbers. */
function timeOf(text: string | undefined, now: number): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? now : time;
}
