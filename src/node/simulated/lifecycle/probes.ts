/**
 * Simulates probes: of a container that has one, the rules say when it fails. A container that fails its liveness probe is
 * restarted by the plan; one that fails its readiness probe runs on without traffic.
 */
import { containerOf } from '../../pod/phase.ts';
import { touch } from '../../pod/plan/record.ts';
import { sample } from '../rules/duration.ts';
import { isNamed } from '../rules/rules.ts';
import type { LifecycleContext } from './context.ts';
import type { PodLife, SimulatedRun } from './pod-life.ts';

/** Decides when the probes of a running container fail. */
export function planProbeFailures(life: PodLife, run: SimulatedRun, context: LifecycleContext): void {
  const { liveness } = life.stages;
  run.livenessFailsAt = undefined;
  run.readinessFailsAt = undefined;
  if (run.state.type !== 'running') return;
  const isAlive = liveness?.times !== undefined && run.restarts >= liveness.times;
  if (liveness && !isAlive && isProbed(life, run, 'liveness')) {
    run.livenessFailsAt = Math.max(context.now, run.state.since + sample(liveness.after, context.random));
  }
  if (run.ready) planReadinessFailure(life, run, context);
}

function planReadinessFailure(life: PodLife, run: SimulatedRun, { now, random }: LifecycleContext): void {
  const { readiness } = life.stages;
  if (readiness && isProbed(life, run, 'readiness')) run.readinessFailsAt = now + sample(readiness.after, random);
}

export function becomeReady(life: PodLife, run: SimulatedRun, context: LifecycleContext): void {
  setReady(run, true);
  run.readyAt = undefined;
  planReadinessFailure(life, run, context);
}

export function failReadiness(life: PodLife, run: SimulatedRun, { now, random, emit }: LifecycleContext): void {
  const { readiness } = life.stages;
  emit(life, { type: 'probeFailed', probe: 'Readiness', run });
  setReady(run, false);
  run.readinessFailsAt = undefined;
  // Some time must pass, or it would switch between ready and not ready forever.
  run.readyAt = readiness?.for && now + Math.max(1, sample(readiness.for, random));
}

export function failLiveness(life: PodLife, run: SimulatedRun, { emit }: LifecycleContext): void {
  emit(life, { type: 'probeFailed', probe: 'Liveness', run });
  run.livenessFailsAt = undefined;
  run.container.live = false;
  touch(life.state, run.container);
}

function setReady(run: SimulatedRun, ready: boolean): void {
  run.ready = ready;
  run.container.ready = ready;
}

function isProbed({ pod, stages }: PodLife, run: SimulatedRun, probe: 'liveness' | 'readiness'): boolean {
  const { containers } = stages[probe] ?? {};
  const container = containerOf(pod, run);
  const has = `${probe}Probe` as const;
  return has in container && container[has] !== undefined && isNamed(containers, run.name);
}
