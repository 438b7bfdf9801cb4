/**
 * The simulated life of a pod: what the plan knows about it, and what is foreseen. It is derived from the pod's status, so
 * that a pod continues where it was when the program restarts.
 */
import type { ContainerRun, RunState, SeenContainer, SeenPod, Termination } from '../../pod/container-run.ts';
import { isTerminalPhase, type Phase } from '../../pod/phase.ts';
import type { Action } from '../../pod/plan/action.ts';
import { adoptPod, alignContainers } from '../../pod/plan/adopt.ts';
import { specAt } from '../../pod/plan/facts.ts';
import { setRecords } from '../../pod/plan/record.ts';
import {
  type ContainerRecord,
  type ContainerState,
  DONE,
  type PodFailure,
  type PodState,
  type SandboxRecord,
} from '../../pod/plan/state.ts';
import { type Reported, type ReportedStatus, reportedExit, reportedIn, reportedTime } from '../../pod/reported.ts';
import type { Stages } from '../rules/rules.ts';

type PullAction = Extract<Action, { readonly type: 'pull-image' }>;

/** A container as its status shows it, and what is foreseen for it. */
export interface SimulatedRun extends ContainerRun {
  /** State of the container in the plan. */
  readonly container: ContainerState;
  image: string;
  imageID: string;
  state: RunState;
  last: Termination | undefined;
  restarts: number;
  ready: boolean;
  /** When what is shown changes by itself: the end of a back-off. */
  shownUntil: number;
  /** True when what is shown has to be computed again. */
  isStale: boolean;
  /** The pull that is in progress, and when it ends. */
  pull: { readonly action: PullAction; readonly startedAt: number | undefined; readonly endsAt: number } | undefined;
  /** While it runs. */
  readyAt: number | undefined;
  endsAt: number | undefined;
  /** When it fails its probes. */
  livenessFailsAt: number | undefined;
  readinessFailsAt: number | undefined;
  /** True when it was asked to stop, because its pod is deleted. */
  isStopping: boolean;
  /** True when its next steps have been decided. */
  isPlanned: boolean;
}

export interface PodLife {
  /** As last seen by the informer. */
  pod: SeenPod;
  stages: Stages;
  readonly state: PodState;
  readonly startTime: number;
  phase: Phase;
  /** Undefined until the pod has its sandbox. */
  address: string | undefined;
  /** True while it has its sandbox, which a terminated pod has given up. */
  hasSandbox: boolean;
  sandboxAt: number;
  /** The creation of its sandbox that is in progress. */
  sandboxAction: Action | undefined;
  runs: SimulatedRun[];
  /** When the containers of a deleted pod stop; undefined while nobody has asked. */
  stopsAt: number | undefined;
  /** The end of their grace period. */
  stopsBy: number;
  /** When the plan wants to be asked again. */
  nextAt: number | undefined;
  /** Nothing is left on the node: the pod can be deleted. */
  isTerminated: boolean;
  failure: PodFailure | undefined;
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
  const hasSandbox = hasPlace && !isTerminalPhase(status.phase);
  const reported = reportedIn(pod);
  const state = adoptPod(pod, { sandboxes: hasSandbox ? [sandboxOf(pod, now)] : [], containers: [] }, now);
  // A simulated pod needs no preparation on its node, and leaves nothing behind.
  state.volumes = DONE;
  state.release = DONE;
  state.cleanUp = DONE;
  return {
    pod,
    stages,
    state,
    startTime: state.startTime,
    phase: (status.phase as Phase | undefined) ?? 'Pending',
    address: status.podIP,
    hasSandbox,
    sandboxAt: hasPlace ? state.startTime : now + sandboxTakes,
    sandboxAction: undefined,
    runs: state.containers.map((each) => newRun(pod, state, each, { reported, now })),
    stopsAt: undefined,
    stopsBy: Number.POSITIVE_INFINITY,
    nextAt: undefined,
    isTerminated: false,
    failure: state.failure,
  };
}

export const SANDBOX_ID = 'sandbox';

export function sandboxOf({ status }: SeenPod, now: number, address = status.podIP): SandboxRecord {
  return { id: SANDBOX_ID, attempt: 0, isReady: true, createdAt: now, addresses: address ? [address] : [] };
}

/** Adds ephemeral containers that the pod has got; returns whether there are any. */
export function addRuns(life: PodLife, now: number): boolean {
  const { pod, state, runs } = life;
  alignContainers(state, pod, now);
  if (state.containers.length === runs.length) return false;
  const known = { reported: reportedIn(pod), now };
  for (const each of state.containers.slice(runs.length)) runs.push(newRun(pod, state, each, known));
  return true;
}

interface Known {
  readonly reported: ReturnType<typeof reportedIn>;
  readonly now: number;
}

function newRun(pod: SeenPod, state: PodState, container: ContainerState, { reported, now }: Known): SimulatedRun {
  const { name, role, position } = container;
  const spec = specAt(pod, position);
  const { status, restarts = 0 } = reported(container) ?? {};
  const ended = status?.lastState.terminated;
  const shown = status ? reportedState(status, now) : waitingState(pod);
  if (status) adoptRecords(state, container, { status, spec, restarts, now });
  container.ready = status?.ready ?? false;
  return {
    name,
    role,
    container,
    image: status?.image || spec.image || '',
    imageID: status?.imageID ?? '',
    state: shown,
    last: ended && reportedExit(ended, now),
    restarts,
    ready: container.ready,
    shownUntil: Number.POSITIVE_INFINITY,
    isStale: false,
    pull: undefined,
    readyAt: undefined,
    endsAt: undefined,
    livenessFailsAt: undefined,
    readinessFailsAt: undefined,
    isStopping: false,
    isPlanned: false,
  };
}

/** Makes records of what the status says: it is all that is left of a simulated runtime when the program has ended. */
function adoptRecords(
  state: PodState,
  container: ContainerState,
  { status, spec, restarts, now }: Reported & { readonly spec: SeenContainer; readonly now: number },
): void {
  const { running, terminated } = status.state;
  const before = status.lastState.terminated;
  const records: ContainerRecord[] = [];
  const add = (more: Partial<ContainerRecord>, statusId: string) => {
    const attempt = restarts - records.length;
    const image = status.image || spec.image || '';
    records.push({
      id: statusId || `${container.name}/${attempt}`,
      statusId,
      sandboxId: SANDBOX_ID,
      name: container.name,
      attempt,
      state: 'exited',
      startedAt: undefined,
      finishedAt: undefined,
      exitCode: undefined,
      reason: undefined,
      message: undefined,
      image,
      imageId: status.imageID ?? '',
      ...more,
    });
  };
  const exited = (exit: Termination) => add(exit, exit.id);
  if (running) add({ state: 'running', startedAt: reportedTime(running.startedAt, now) }, status.containerID ?? '');
  else if (terminated) exited(reportedExit(terminated, now));
  if (before) exited(reportedExit(before, now));
  container.lastExit = undefined;
  setRecords(state, container, records, now);
  container.started = running ? true : undefined;
  container.crashes = restarts;
  container.restarts = restarts;
  container.applied = undefined;
}

/** The state of a container before its first start. */
const waitingState = ({ spec }: SeenPod): RunState => (spec.initContainers?.length ? INITIALIZING : CREATING);

const INITIALIZING: RunState = Object.freeze({ type: 'waiting', reason: 'PodInitializing' });
const CREATING: RunState = Object.freeze({ type: 'waiting', reason: 'ContainerCreating' });

function reportedState({ state, containerID = '' }: ReportedStatus, now: number): RunState {
  if (state.running) return { type: 'running', since: reportedTime(state.running.startedAt, now), id: containerID };
  if (state.terminated) return { type: 'ended', ...reportedExit(state.terminated, now) };
  const { reason = 'ContainerCreating', message } = state.waiting ?? {};
  return { type: 'waiting', reason, message: message || undefined };
}
