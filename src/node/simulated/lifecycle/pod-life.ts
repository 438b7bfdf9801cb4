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
  const startTime = status.startTime ? Date.parse(status.startTime) : now;
  const { reason, message } = status;
  return {
    pod,
    stages,
    startTime,
    phase: (status.phase as Phase | undefined) ?? 'Pending',
    address: status.podIP,
    hasSandbox: hasPlace && !isTerminalPhase(status.phase),
    sandboxAt: hasPlace ? startTime : now + sandboxTakes,
    runs: runsOf(pod),
    stopRequestedAt: undefined,
    stopsAt: undefined,
    isTerminated: false,
    failure: isTerminalPhase(status.phase) && reason ? { reason, message: message ?? '' } : undefined,
  };
}

/** Returns all containers of the pod, init containers first, with the state that its status shows. */
function runsOf(pod: SeenPod): SimulatedRun[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  return [
    ...initContainers.map((each) => runOf(pod, each, each.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...containers.map((each) => runOf(pod, each, 'main')),
    ...ephemeralContainers.map((each) => runOf(pod, each, 'ephemeral')),
  ];
}

export function runOf(pod: SeenPod, container: SeenContainer, role: Role): SimulatedRun {
  const known = statusesOf(pod, role)?.find(({ name }) => name === container.name);
  const image = known?.image || container.image || '';
  const common = { name: container.name, role, image, imageID: known?.imageID ?? '' };
  const none = {
    ...{ startsAt: undefined, pullStartedAt: undefined, readyAt: undefined, endsAt: undefined },
    ...{ livenessFailsAt: undefined, readinessFailsAt: undefined },
    isPlanned: false,
  };
  if (!known) {
    const reason = pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
    const state = { type: 'waiting', reason } as const;
    return { ...common, ...none, state, last: undefined, restarts: 0, ready: false, failures: 0 };
  }
  const [restarts = 0] = trueRestarts(pod.metadata.annotations, [known]);
  const last = known.lastState.terminated && endedOf(known.lastState.terminated);
  const state = stateOf(known);
  const run = { ...common, ...none, state, last, restarts, ready: known.ready, failures: restarts };
  if (!last || state.type !== 'waiting') return run;
  // It waits for its next start, after the back-off that its message states.
  return { ...run, failures: restarts + 1, startsAt: last.finishedAt + delayAfter(restarts) };
}

type Status = NonNullable<SeenPod['status']['containerStatuses']>[number];

function statusesOf({ status }: SeenPod, role: Role): readonly Status[] | undefined {
  switch (role) {
    case 'main':
      return status.containerStatuses;
    case 'ephemeral':
      return status.ephemeralContainerStatuses;
    case 'init':
    case 'sidecar':
      return status.initContainerStatuses;
  }
}

function stateOf({ state, containerID = '' }: Status): RunState {
  if (state.running) return { type: 'running', since: Date.parse(state.running.startedAt ?? ''), id: containerID };
  if (state.terminated) return { type: 'ended', ...endedOf(state.terminated) };
  const { reason = 'ContainerCreating', message } = state.waiting ?? {};
  return { type: 'waiting', reason, ...(message ? { message } : {}) };
}

function endedOf(terminated: NonNullable<Status['state']['terminated']>): Termination {
  const { exitCode, reason = '', message, startedAt, finishedAt = '', containerID = '' } = terminated;
  return {
    exitCode,
    reason,
    message,
    startedAt: startedAt === undefined ? undefined : Date.parse(startedAt),
    finishedAt: Date.parse(finishedAt),
    id: containerID,
  };
}
