/** Advances one container: it waits for its image, runs, becomes ready, ends, and may be restarted. */
import { mayRestart } from '../../../kinds/shapes/container/restart.ts';
import type { Termination } from '../../pod/container-run.ts';
import { formatDuration } from '../../pod/duration.ts';
import { containerOf } from '../../pod/phase.ts';
import { sample } from '../rules/duration.ts';
import { type Ending, isNamed } from '../rules/rules.ts';
import { crashDelay } from './back-off.ts';
import type { LifecycleContext } from './context.ts';
import { containerIdOf } from './ids.ts';
import { isImageMissing, pullImage, useImage } from './images.ts';
import { messageFromLog } from './logs.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';
import { becomeReady, failReadiness, planProbeFailures } from './probes.ts';

/** Starts a container whose turn it is: pulls its image, or restarts it. */
export function startNext(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  if (run.state.type === 'ended') return restart(life, run, context.now);
  if (run.state.type !== 'waiting' || run.startsAt !== undefined) return false;
  pullImage(life, run, context);
  return true;
}

/** Does what is due for one container; returns whether anything was. */
export function advanceContainer(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  const { now } = context;
  switch (run.state.type) {
    case 'waiting':
      if (run.startsAt === undefined || now < run.startsAt) return false;
      return begin(life, run, context);
    case 'running':
      if (isDue(run.endsAt, now)) return endByRule(life, run, context);
      if (isDue(run.livenessFailsAt, now)) return kill(life, run, context);
      if (isDue(run.readinessFailsAt, now)) return failReadiness(life, run, context);
      return isDue(run.readyAt, now) && becomeReady(life, run, context);
    case 'ended':
      return false;
  }
}

const isDue = (time: number | undefined, now: number) => time !== undefined && now >= time;

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

function begin(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  const { now, emit } = context;
  const isAgain = run.last !== undefined;
  if (isImageMissing(life, run, context)) return true;
  useImage(life, run, context);
  if (isAgain) run.restarts++;
  const id = containerIdOf(life.pod.metadata.uid ?? '', run.position, run.restarts);
  run.state = { type: 'running', since: now, id };
  run.startsAt = undefined;
  planOutcome(life, run, context);
  emit(life, { type: 'created', run });
  emit(life, { type: 'started', run });
  return true;
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

function endByRule(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  const { exitCode = 0, reason, message } = endingOf(life, run) ?? {};
  return endOrRestart(life, run, { ...context, exitCode, reason, message });
}

/** Kills a container that failed its liveness probe. */
function kill(life: PodLife, run: SimulatedRun, context: LifecycleContext): boolean {
  context.emit(life, { type: 'probeFailed', probe: 'Liveness', run });
  return endOrRestart(life, run, { ...context, exitCode: 137 });
}

function endOrRestart(life: PodLife, run: SimulatedRun, { now, emit, ...how }: End & LifecycleContext): boolean {
  const ended = end(life, run, { now, ...how });
  if (!ended || !canRestart(life, run, how.exitCode)) return true;
  const delay = crashDelay(run, now - (ended.startedAt ?? now));
  if (delay === 0) return true;
  const { name, namespace, uid } = life.pod.metadata;
  run.last = ended;
  run.startsAt = now + delay;
  run.state = {
    type: 'waiting',
    reason: 'CrashLoopBackOff',
    message: `back-off ${formatDuration(delay)} restarting failed container=${run.name} pod=${name}_${namespace}(${uid})`,
  };
  emit(life, { type: 'backOff', run });
  return true;
}

/** Restarts a container without a delay. */
function restart(life: PodLife, run: SimulatedRun, now: number): boolean {
  const { state } = run;
  if (state.type !== 'ended' || !canRestart(life, run, state.exitCode)) return false;
  run.last = state;
  run.state = { type: 'waiting', reason: run.role === 'main' ? 'ContainerCreating' : 'PodInitializing' };
  run.startsAt = now;
  return true;
}

/** An init container that succeeded is not restarted, whatever the policy. */
function canRestart({ pod, stopsAt }: PodLife, run: SimulatedRun, exitCode: number): boolean {
  if (stopsAt !== undefined || run.role === 'ephemeral' || (run.role === 'init' && exitCode === 0)) return false;
  return mayRestart(containerOf(pod, run), pod.spec, exitCode);
}

interface End {
  readonly now: number;
  readonly exitCode: number;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Ends a running container and returns how; undefined when it was not running. */
export function end(life: PodLife, run: SimulatedRun, how: End): Termination | undefined {
  const { now, exitCode, reason, message } = how;
  if (run.state.type !== 'running') return undefined;
  const ended: Termination = {
    exitCode,
    reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    message: message ?? (exitCode === 0 ? undefined : messageFromLog(life, run, now)),
    startedAt: run.state.since,
    finishedAt: now,
    id: run.state.id,
  };
  run.state = { type: 'ended', ...ended };
  run.ready = false;
  run.readyAt = undefined;
  run.endsAt = undefined;
  run.livenessFailsAt = undefined;
  run.readinessFailsAt = undefined;
  return ended;
}
