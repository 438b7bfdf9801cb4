/**
 * Advances a pod: does what is due, in the order in which a kubelet does it. It depends only on the pod's state and the
 * context, where time, randomness and addresses come from.
 */
import { hasStarted, isDone, type Termination } from '../../pod/container-run.ts';
import { containerOf, finalPhase, isTerminalPhase, phaseOf } from '../../pod/phase.ts';
import { sample } from '../rules/duration.ts';
import { advanceContainer, end, planOutcome, startNext } from './advance-container.ts';
import type { LifecycleContext } from './context.ts';
import { addedRuns, type PodLife, type SimulatedRun } from './pod-life.ts';

const ADDRESS_RETRY_MS = 10_000;

/** Advances the pod to now; returns whether anything changed. */
export function advancePod(life: PodLife, context: LifecycleContext): boolean {
  let changed = applySpecChanges(life, context);
  for (const run of life.runs) if (!run.isPlanned) planOutcome(life, run, context);
  if (isTerminalPhase(life.phase) && !life.pod.metadata.deletionTimestamp) return changed;
  while (advanceOnce(life, context)) changed = true;
  return changed;
}

/** Returns when the next step is due; undefined when nothing is until the pod is changed. */
export function nextDue(life: PodLife): number | undefined {
  if (life.isTerminated) return undefined;
  let next = life.stopsAt ?? Number.POSITIVE_INFINITY;
  if (!isTerminalPhase(life.phase) && life.stopsAt === undefined) {
    if (!life.hasSandbox) next = Math.min(next, life.sandboxAt);
    const { activeDeadlineSeconds } = life.pod.spec;
    if (activeDeadlineSeconds !== undefined) next = Math.min(next, life.startTime + activeDeadlineSeconds * 1_000);
  }
  if (!isTerminalPhase(life.phase)) {
    const isStarted = hasStartedMain(life);
    for (const run of life.runs) {
      next = Math.min(next, run.startsAt ?? next, run.readyAt ?? next, run.endsAt ?? next);
      next = Math.min(next, run.livenessFailsAt ?? next, run.readinessFailsAt ?? next);
      if (blocksOthers(run, isStarted)) break;
    }
  }
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

/** Does the next steps that are due; returns false when none is. */
function advanceOnce(life: PodLife, context: LifecycleContext): boolean {
  if (life.isTerminated) return false;
  if (life.pod.metadata.deletionTimestamp && terminate(life, context)) return true;
  if (isTerminalPhase(life.phase)) return false;
  if (life.stopsAt !== undefined) {
    return advanceEach(life.runs, (run) => advanceContainer(life, run, context));
  }
  if (isPastDeadline(life, context.now)) return failDeadline(life, context);
  if (!life.hasSandbox) return createSandbox(life, context);
  return advanceContainers(life, context) || updatePhase(life, context);
}

/** Terminates a deleted pod: its containers get a grace period, and then it is removed. */
function terminate(life: PodLife, context: LifecycleContext): boolean {
  life.stopRequestedAt ??= context.now;
  const latest = latestEnd(life, life.stopRequestedAt);
  if (life.stopsAt === undefined) {
    const running = life.runs.filter(({ state }) => state.type === 'running');
    for (const run of running) context.emit(life, { type: 'killing', run });
    const wanted = context.now + sample(life.stages.stop, context.random);
    life.stopsAt = running.length === 0 ? context.now : Math.min(wanted, Math.max(context.now, latest));
    for (const run of life.runs) run.startsAt = undefined;
    return true;
  }
  // A second delete can shorten the grace period.
  if (life.stopsAt > latest) life.stopsAt = Math.max(context.now, latest);
  if (context.now < life.stopsAt) return false;
  const isGraceOver = life.stopsAt >= latest;
  endContainers(life, context.now, isGraceOver ? 137 : 143);
  if (!isTerminalPhase(life.phase)) life.phase = finalPhase(life.runs);
  life.hasSandbox = false;
  life.isTerminated = true;
  return true;
}

/**
 * Returns when the grace period ends. It starts when the containers are asked to stop; since the deletion timestamp has whole
 * seconds, it may end up to a second after that.
 */
function latestEnd({ pod }: PodLife, stopRequestedAt: number): number {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = pod.metadata;
  return Math.min(stopRequestedAt + deletionGracePeriodSeconds * 1_000, Date.parse(deletionTimestamp) + 1_000);
}

function isPastDeadline({ pod, startTime }: PodLife, now: number): boolean {
  const { activeDeadlineSeconds } = pod.spec;
  return activeDeadlineSeconds !== undefined && now >= startTime + activeDeadlineSeconds * 1_000;
}

function failDeadline(life: PodLife, context: LifecycleContext): boolean {
  context.emit(life, { type: 'deadline' });
  for (const run of life.runs) if (run.state.type === 'running') context.emit(life, { type: 'killing', run });
  endContainers(life, context.now, 137);
  life.phase = 'Failed';
  life.failure = {
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  };
  life.hasSandbox = false;
  return true;
}

function createSandbox(life: PodLife, { now, takeAddress, emit }: LifecycleContext): boolean {
  if (now < life.sandboxAt) return false;
  life.address ??= takeAddress(life.pod);
  if (life.address === undefined) {
    emit(life, { type: 'noAddress' });
    life.sandboxAt = now + ADDRESS_RETRY_MS;
    return false;
  }
  life.hasSandbox = true;
  return true;
}

/** Init containers run one by one, then all others; sidecars and ephemeral containers run throughout. */
function advanceContainers(life: PodLife, context: LifecycleContext): boolean {
  const advance = (run: SimulatedRun) => advanceContainer(life, run, context) || startNext(life, run, context);
  const isStarted = hasStartedMain(life);
  let changed = false;
  for (const run of life.runs) {
    if (run.role !== 'init' && run.role !== 'sidecar') continue;
    if (advanceEach([run], advance)) changed = true;
    if (blocksOthers(run, isStarted)) return changed;
  }
  const others = life.runs.filter(({ role }) => role === 'main' || role === 'ephemeral');
  return advanceEach(others, advance) || changed;
}

/** Advances each container as far as is due, one after the other; returns whether anything was. */
function advanceEach(runs: readonly SimulatedRun[], advance: (run: SimulatedRun) => boolean): boolean {
  let changed = false;
  for (const run of runs) while (advance(run)) changed = true;
  return changed;
}

/** Whether the containers after it have to wait: for an init container, or for a sidecar before they have started. */
function blocksOthers(run: SimulatedRun, isStarted: boolean): boolean {
  return !isStarted && (run.role === 'init' || run.role === 'sidecar') && !isDone(run);
}

/** Whether one of the main containers has started. */
function hasStartedMain({ runs }: PodLife): boolean {
  return runs.some((run) => run.role === 'main' && hasStarted(run));
}

/** Ends all running containers. Those that never ran get an unknown termination. */
function endContainers(life: PodLife, now: number, exitCode: number): void {
  for (const run of life.runs) {
    run.startsAt = undefined;
    if (run.state.type === 'waiting') run.state = { type: 'ended', ...(run.last ?? unknownTermination(now)) };
    else end(life, run, { now, exitCode });
  }
}

function unknownTermination(now: number): Termination {
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    finishedAt: now,
    id: '',
  };
}

/** Derives the phase from the containers. When the pod is done, its sidecars end, too. */
function updatePhase(life: PodLife, { now }: LifecycleContext): boolean {
  const phase = phaseOf(life.pod, life.runs);
  if (phase === life.phase) return false;
  life.phase = phase;
  if (isTerminalPhase(phase)) {
    for (const run of life.runs) {
      run.startsAt = undefined;
      if (run.state.type === 'waiting' && run.last) run.state = { type: 'ended', ...run.last };
      end(life, run, { now, exitCode: 0 });
    }
    life.hasSandbox = false;
  }
  return true;
}

/** Applies changed images and added ephemeral containers. */
function applySpecChanges(life: PodLife, context: LifecycleContext): boolean {
  if (isTerminalPhase(life.phase) || life.stopsAt !== undefined) return false;
  let changed = false;
  for (const run of life.runs) {
    const wanted = containerOf(life.pod, run).image ?? '';
    if (run.state.type !== 'running' || run.role === 'init' || wanted === run.image || !wanted) continue;
    context.emit(life, { type: 'changed', run });
    run.last = end(life, run, { now: context.now, exitCode: 143 });
    run.state = { type: 'waiting', reason: 'ContainerCreating' };
    run.startsAt = context.now;
    changed = true;
  }
  const { ephemeralContainers = [] } = life.pod.spec;
  if (ephemeralContainers.length === 0) return changed;
  const known = new Set(life.runs.filter(({ role }) => role === 'ephemeral').map(({ name }) => name));
  const added = ephemeralContainers.filter(({ name }) => !known.has(name));
  if (added.length === 0) return changed;
  for (const run of addedRuns(life.pod, added, { first: life.runs.length, now: context.now })) life.runs.push(run);
  changed = true;
  return changed;
}
