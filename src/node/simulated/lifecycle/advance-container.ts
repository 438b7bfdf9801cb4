/** Advances one container of a simulated runtime: it starts, becomes ready, and ends by rule. */
import type { Action } from '../../pod/plan/action.ts';
import { isRunning, specAt } from '../../pod/plan/facts.ts';
import { setRecords } from '../../pod/plan/record.ts';
import { reachedIn, shownExit, shownState, shownWait, type WasReached } from '../../pod/plan/report.ts';
import { type ContainerRecord, TO_DO } from '../../pod/plan/state.ts';
import { sample } from '../rules/duration.ts';
import { type Ending, isNamed } from '../rules/rules.ts';
import type { LifecycleContext } from './context.ts';
import { containerIdOf } from './ids.ts';
import { endPull } from './images.ts';
import { messageFromLog } from './logs.ts';
import { type PodLife, SANDBOX_ID, type SimulatedRun } from './pod-life.ts';
import { becomeReady, failLiveness, failReadiness, planProbeFailures } from './probes.ts';

type StartAction = Extract<Action, { readonly type: 'start-container' }>;

/** Does what is due for one container; returns whether anything was. */
export function advanceRun(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  let changed = false;
  while (advanceOnce(life, run, context)) changed = true;
  return changed;
}

function advanceOnce(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  const { now } = context;
  if (run.pull && now >= run.pull.endsAt) endPull(life, run, context);
  else if (isDue(run.endsAt, now)) endByRule(life, run, context);
  else if (run.isStopping && isDue(life.stopsAt, now)) endStopped(life, run, now);
  else if (isDue(run.livenessFailsAt, now)) failLiveness(life, run, context);
  else if (isDue(run.readinessFailsAt, now)) failReadiness(life, run, context);
  else if (isDue(run.readyAt, now)) becomeReady(life, run, context);
  else return false;
  return true;
}

const isDue = (time: number | undefined, now: number) => time !== undefined && now >= time;

/** Returns when the next step of the container is due. */
export function nextStep({ pull, readyAt, endsAt, livenessFailsAt, readinessFailsAt }: SimulatedRun): number {
  let next = pull?.endsAt ?? Number.POSITIVE_INFINITY;
  if (readyAt !== undefined && readyAt < next) next = readyAt;
  if (endsAt !== undefined && endsAt < next) next = endsAt;
  if (livenessFailsAt !== undefined && livenessFailsAt < next) next = livenessFailsAt;
  return readinessFailsAt !== undefined && readinessFailsAt < next ? readinessFailsAt : next;
}

/**
 * Decides when a running container becomes ready, fails and ends. One that ran before a restart of the program is decided
 * then.
 */
export function planOutcome(life: PodLife, run: SimulatedRun, context: LifecycleContext): void {
  const { now, random } = context;
  run.isPlanned = true;
  planProbeFailures(life, run, context);
  if (run.state.type !== 'running') return;
  if (!run.ready && run.role !== 'init') run.readyAt = now + sample(life.stages.ready, random);
  const ending = endingOf(life, run);
  if (ending) run.endsAt = Math.max(now, run.state.since + sample(ending.takes, random));
}

export function startContainer(life: PodLife, run: SimulatedRun, action: StartAction, context: LifecycleContext): void {
  const { now, emit } = context;
  const { container } = run;
  const { attempt, image, imageId } = action;
  const id = containerIdOf(life.pod.metadata.uid ?? '', container.position, attempt);
  const previous = container.records[0];
  const record: ContainerRecord = {
    id,
    statusId: id,
    sandboxId: SANDBOX_ID,
    name: run.name,
    attempt,
    state: 'running',
    startedAt: now,
    finishedAt: undefined,
    exitCode: undefined,
    reason: undefined,
    message: undefined,
    image,
    imageId,
  };
  setRecords(life.state, container, previous ? [record, previous] : [record], now);
  container.start = TO_DO;
  container.image = TO_DO;
  container.started = true;
  container.ready = false;
  show(life, run, now, reachedIn(life.pod, life.state));
  planOutcome(life, run, context);
  emit(life, { type: 'created', run });
  emit(life, { type: 'started', run });
}

/** Returns how the container ends by itself; undefined when it keeps running. */
function endingOf({ stages }: PodLife, run: SimulatedRun): Ending | undefined {
  const ending = run.role === 'init' ? stages.init : run.role === 'ephemeral' ? undefined : stages.run;
  const isMeant = isNamed(ending?.containers, run.name);
  // A sidecar keeps running unless the rule names it.
  if (run.role === 'sidecar' && !ending?.containers) return undefined;
  if (ending && isMeant && (ending.times === undefined || run.restarts < ending.times)) return ending;
  return run.role === 'init' ? { takes: stages.init.takes, exitCode: 0 } : undefined;
}

function endByRule(life: PodLife, run: SimulatedRun, { now }: LifecycleContext): void {
  const { exitCode = 0, reason, message } = endingOf(life, run) ?? {};
  end(life, run, { now, exitCode, reason, message });
}

/** Ends a container of a deleted pod: it has stopped in time, or was killed. */
function endStopped(life: PodLife, run: SimulatedRun, now: number): void {
  end(life, run, { now, exitCode: (life.stopsAt ?? now) >= life.stopsBy ? 137 : 143 });
}

interface End {
  readonly now: number;
  readonly exitCode: number;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Ends a running container. */
export function end(life: PodLife, run: SimulatedRun, { now, exitCode, reason, message }: End): void {
  const { container } = run;
  const [newest, ...older] = container.records;
  run.readyAt = undefined;
  run.endsAt = undefined;
  run.livenessFailsAt = undefined;
  run.readinessFailsAt = undefined;
  run.isStopping = false;
  if (!newest || !isRunning(container)) return;
  const why = {
    reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    message: message ?? (exitCode === 0 ? undefined : messageFromLog(life, run, now)),
  };
  setRecords(life.state, container, [{ ...newest, state: 'exited', exitCode, finishedAt: now, ...why }, ...older], now);
  container.ready = false;
  run.isStale = true;
}

/** Computes what the status shows. */
export function show({ pod, state }: PodLife, run: SimulatedRun, now: number, wasReached: WasReached): void {
  const { container } = run;
  const subject = { spec: specAt(pod, container.position), each: container, now, wasReached };
  const wait = shownWait(pod, state, subject);
  run.isStale = false;
  run.shownUntil = wait?.until ?? Number.POSITIVE_INFINITY;
  run.state = shownState(pod, state, subject, wait);
  run.last = shownExit(container, run.state);
  run.restarts = container.restarts;
  run.ready = container.ready === true;
  run.image = container.ranImage || subject.spec.image || '';
  run.imageID = container.ranImageId;
}
