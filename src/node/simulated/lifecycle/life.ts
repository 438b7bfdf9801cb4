/**
 * A pod's life so far, and how to pick it up from what its status says: a pod that is new has an empty one, and one that
 * was there before the program started goes on where it was.
 */
import { trueRestarts } from '../../../kinds/groups/core/pod/restart-counts.ts';
import type { ContainerRun, Ended, Role, RunState, SeenContainer, SeenPod } from '../../pod/container-run.ts';
import { isOver, type Phase } from '../../pod/phase.ts';
import type { Stages } from '../rules/rules.ts';
import { delayAfter } from './back-off.ts';

/** A container with what is to happen to it. */
export interface SimulatedRun extends ContainerRun {
  image: string;
  imageID: string;
  state: RunState;
  last: Ended | undefined;
  restarts: number;
  ready: boolean;
  /** Of one that waits: when it starts; undefined as long as it is not its turn. */
  startsAt: number | undefined;
  /** Since when its image is fetched; undefined when nobody does. */
  fetchedSince: number | undefined;
  /** Of one that runs. */
  readyAt: number | undefined;
  endsAt: number | undefined;
  /** When it fails its liveness probe, and when its readiness probe. */
  killedAt: number | undefined;
  faltersAt: number | undefined;
  /** Whether what is ahead of it has been decided. */
  isForeseen: boolean;
  /** Failures in a row, of starting or of running, which make it wait longer. */
  failures: number;
}

export interface Life {
  /** As it was last seen. */
  pod: SeenPod;
  stages: Stages;
  readonly startTime: number;
  phase: Phase;
  /** Undefined as long as the pod has no place yet. */
  address: string | undefined;
  /** Whether it has its place. One that has given it up is over. */
  sandbox: boolean;
  sandboxAt: number;
  runs: SimulatedRun[];
  /** When its containers were asked to end, and when they do; undefined as long as nobody has asked. */
  askedAt: number | undefined;
  stopsAt: number | undefined;
  /** The node has nothing more of it: the pod can be removed. */
  isGone: boolean;
  verdict: { readonly reason: string; readonly message: string } | undefined;
}

export interface Beginning {
  readonly pod: SeenPod;
  readonly stages: Stages;
  readonly now: number;
  /** From its beginning until it has its place. */
  readonly sandboxTakes: number;
}

export function beginLife({ pod, stages, now, sandboxTakes }: Beginning): Life {
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
    sandbox: hasPlace && !isOver(status.phase),
    sandboxAt: hasPlace ? startTime : now + sandboxTakes,
    runs: runsOf(pod),
    askedAt: undefined,
    stopsAt: undefined,
    isGone: false,
    verdict: isOver(status.phase) && reason ? { reason, message: message ?? '' } : undefined,
  };
}

/** Every container of the pod, those that prepare it first, with what its status knows of it. */
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
    ...{ startsAt: undefined, fetchedSince: undefined, readyAt: undefined, endsAt: undefined },
    ...{ killedAt: undefined, faltersAt: undefined },
    isForeseen: false,
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
  // It waits for its next start, which comes after the end and the delay that the message spoke of.
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

function endedOf(terminated: NonNullable<Status['state']['terminated']>): Ended {
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
