/**
 * Probes are not run: of a container that has one, the rules say when it fails. A container that fails its liveness probe is
 * killed, as if it had ended by itself; one that fails its readiness probe runs on and gets no traffic.
 */
import { containerOf } from '../../pod/phase.ts';
import { draw } from '../rules/span.ts';
import type { Circumstances } from './container-steps.ts';
import type { Life, SimulatedRun } from './life.ts';

/** What is ahead of a container that runs. */
export function foreseeProbes(life: Life, run: SimulatedRun, world: Circumstances): void {
  const { liveness } = life.stages;
  run.killedAt = undefined;
  run.faltersAt = undefined;
  if (run.state.type !== 'running') return;
  const isAlive = liveness?.times !== undefined && run.restarts >= liveness.times;
  if (liveness && !isAlive && isProbed(life, run, 'liveness')) {
    run.killedAt = Math.max(world.now, run.state.since + draw(liveness.after, world.random));
  }
  if (run.ready) foreseeFaltering(life, run, world);
}

function foreseeFaltering(life: Life, run: SimulatedRun, { now, random }: Circumstances): void {
  const { readiness } = life.stages;
  if (readiness && isProbed(life, run, 'readiness')) run.faltersAt = now + draw(readiness.after, random);
}

export function becomeReady(life: Life, run: SimulatedRun, world: Circumstances): true {
  run.ready = true;
  run.readyAt = undefined;
  foreseeFaltering(life, run, world);
  return true;
}

export function falter(life: Life, run: SimulatedRun, { now, random, tell }: Circumstances): true {
  const { readiness } = life.stages;
  tell(life, { type: 'probeFailed', probe: 'Readiness', run });
  run.ready = false;
  run.faltersAt = undefined;
  // Some time must pass, or it would be ready and not ready at once, for ever.
  run.readyAt = readiness?.for && now + Math.max(1, draw(readiness.for, random));
  return true;
}

function isProbed({ pod, stages }: Life, run: SimulatedRun, probe: 'liveness' | 'readiness'): boolean {
  const { containers } = stages[probe] ?? {};
  const container = containerOf(pod, run);
  const has = `${probe}Probe` as const;
  return has in container && container[has] !== undefined && (!containers || containers.includes(run.name));
}
