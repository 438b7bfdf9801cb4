/**
 * The state of a pod that this agent has not seen before: a new one, or one that an earlier agent has left. What runs is
 * found in the runtime's records; the status in the API tells what was before them.
 */
import { extended } from '../../../base/json/tree.ts';
import { restartsAll } from '../../../kinds/shapes/container/restart.ts';
import type { Role, SeenContainer, SeenPod, Termination } from '../container-run.ts';
import { isTerminalPhase, type Phase } from '../phase.ts';
import { type Reported, type ReportedStatus, reportedExit, reportedIn, reportedTime } from '../reported.ts';
import { LOST_MESSAGE, RESTARTING_ALL, readySandbox, specAt } from './facts.ts';
import { type Listing, observe } from './record.ts';
import { reportedPod, sizeOf } from './resize.ts';
import { type ContainerState, type PodState, type Resources, TO_DO } from './state.ts';

export function adoptPod(pod: SeenPod, listing: Omit<Listing, 'revision'>, now: number): PodState {
  const { phase, reason, message, startTime, podIPs, podIP } = pod.status;
  const hasEnded = isTerminalPhase(phase);
  const reportedSize = reportedPod(pod);
  const state: PodState = {
    startTime: reportedTime(startTime, now),
    sandboxes: [],
    containers: [],
    volumes: TO_DO,
    sandbox: TO_DO,
    size: sizeOf(reportedSize),
    resizing: TO_DO,
    release: TO_DO,
    cleanUp: TO_DO,
    addresses: podIPs?.map(({ ip = '' }) => ip) ?? (podIP ? [podIP] : []),
    failure:
      hasEnded && reason ? { reason, message: message ?? '', isRejection: !pod.status.containerStatuses } : undefined,
    stopRequestedAt: hasEnded ? now : undefined,
    endPhase: hasEnded ? (phase as Phase) : undefined,
    endedAt: hasEnded ? now : undefined,
    isRestartingAll: false,
    isRemoved: false,
    resizeRejection: undefined,
    admitted: reportedSize.spec,
    furthest: undefined,
    settled: undefined,
    revision: 0,
  };
  const reported = reportedIn(pod);
  state.containers = containersOf(pod, reported, now);
  observe(state, extended(listing, { revision: 0 }), now);
  for (const container of state.containers) {
    if (container.records.length > 0) continueRecords(container, reported(container)?.status, now);
  }
  continueRestart(pod, state, reported);
  return state;
}

/** Goes on with a restart of all containers, whose records an earlier agent has begun to remove. */
function continueRestart(pod: SeenPod, state: PodState, reported: ReturnType<typeof reportedIn>): void {
  if (state.endPhase || !readySandbox(state)) return;
  const isRestarting = pod.status.conditions?.some(
    ({ type, status }) => type === 'AllContainersRestarting' && status === 'True',
  );
  const wasSource = (each: ContainerState) => {
    const exitCode = reported(each)?.status.state.terminated?.exitCode;
    return each.records.length === 0 && exitCode !== undefined && restartsAll(specAt(pod, each.position), exitCode);
  };
  const own = state.containers.filter(({ role }) => role !== 'ephemeral');
  for (const each of own) each.reset = reportedReset(pod, each, reported(each)?.status);
  const sources = new Set(own.filter(wasSource));
  if (sources.size === 0 && !(isRestarting && own.some(({ records }) => records.length === 0))) return;
  state.isRestartingAll = true;
  for (const each of own) each.reset = sources.has(each) ? 'source' : 'target';
}

/** Returns the role of a container in a restart of all, if it was removed for that and has not been started since. */
function reportedReset(
  pod: SeenPod,
  each: ContainerState,
  status: ReportedStatus | undefined,
): ContainerState['reset'] {
  const { terminated } = status?.lastState ?? {};
  if (each.records.length > 0 || !status?.state.waiting || !terminated) return undefined;
  if (terminated.reason === RESTARTING_ALL.reason) return 'target';
  return restartsAll(specAt(pod, each.position), terminated.exitCode) ? 'source' : undefined;
}

/** Corrects for records that exist what was derived from the status alone. */
function continueRecords(state: ContainerState, status: ReportedStatus | undefined, now: number): void {
  const newest = state.records[0]!;
  const hasRecord = (id: string | undefined) => state.records.some(({ statusId }) => statusId === id);
  state.crashes = Math.max(state.restarts, newest.attempt);
  if (!status || !hasRecord(status.containerID)) return;
  const { terminated } = status.lastState;
  state.lastExit = terminated && !hasRecord(terminated.containerID) ? reportedExit(terminated, now) : undefined;
  if (newest.state !== 'running' || newest.statusId !== status.containerID) return;
  // Probes begin anew, and their last results hold until then.
  if (status.started) state.started = true;
  if (status.ready) state.ready = true;
}

/** Adds containers that the spec has got since: ephemeral ones. The state of the others stays. */
export function alignContainers(state: PodState, pod: SeenPod, now: number): void {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  if (initContainers.length + containers.length + ephemeralContainers.length === state.containers.length) return;
  const known = new Map(state.containers.map((each) => [each.name, each]));
  state.containers = containersOf(pod, reportedIn(pod), now).map((each) => known.get(each.name) ?? each);
  state.settled = undefined;
}

function containersOf(pod: SeenPod, reported: ReturnType<typeof reportedIn>, now: number): ContainerState[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const ofPod = pod.status.containerStatuses ? pod.status.resources : pod.spec.resources;
  let position = 0;
  const build = (container: SeenContainer, role: Role) =>
    containerState(
      container,
      { role, position: position++ },
      { ...reported({ name: container.name, role }), ofPod },
      now,
    );
  return [
    ...initContainers.map((each) => build(each, each.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...containers.map((each) => build(each, 'main')),
    ...ephemeralContainers.map((each) => build(each, 'ephemeral')),
  ];
}

function containerState(
  { name, image = '' }: SeenContainer,
  { role, position }: Pick<ContainerState, 'role' | 'position'>,
  { status, restarts = 0, ofPod }: Partial<Reported> & { readonly ofPod: Resources },
  now: number,
): ContainerState {
  return {
    name,
    role,
    position,
    records: [],
    lastExit: status && lastExitOf(status, now),
    restarts,
    crashes: restarts,
    image: TO_DO,
    imageName: image,
    imageId: '',
    ranImage: status?.image ?? '',
    ranImageId: status?.imageID ?? '',
    start: TO_DO,
    startAttempt: 0,
    stop: undefined,
    preStop: undefined,
    removals: [],
    update: TO_DO,
    started: undefined,
    ready: undefined,
    live: undefined,
    reset: undefined,
    announced: undefined,
    applied: status?.resources && { own: status.resources, ofPod },
  };
}

/** Returns the newest exit that the status tells of. One that was running, and has no record, was lost. */
function lastExitOf({ state, lastState, containerID = '' }: ReportedStatus, now: number): Termination | undefined {
  if (state.terminated) return reportedExit(state.terminated, now);
  if (!state.running) return lastState.terminated && reportedExit(lastState.terminated, now);
  const { startedAt } = state.running;
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: LOST_MESSAGE,
    startedAt: startedAt === undefined ? undefined : reportedTime(startedAt, now),
    finishedAt: now,
    id: containerID,
  };
}
