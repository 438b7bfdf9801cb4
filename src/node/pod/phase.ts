/** Where a pod is in its life, as its containers tell. */
import { mayRestart } from '../../kinds/shapes/container/restart.ts';
import {
  type ContainerRun,
  type Ended,
  hasStarted,
  isThrough,
  type SeenContainer,
  type SeenPod,
} from './container-run.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export function isOver(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

export function phaseOf(pod: SeenPod, runs: readonly ContainerRun[]): Phase {
  const { spec } = pod;
  const main = runs.filter(({ role }) => role === 'main');
  const anyStarted = main.some(hasStarted);
  for (const run of runs) {
    if (anyStarted || (run.role !== 'init' && run.role !== 'sidecar') || isThrough(run)) continue;
    const end = endOf(run);
    return end && run.role === 'init' && !mayRestart(containerOf(pod, run), spec, end.exitCode) ? 'Failed' : 'Pending';
  }
  if (!main.every(hasStarted)) return 'Pending';
  const goesOn = (run: ContainerRun) => {
    const end = endOf(run);
    return !end || mayRestart(containerOf(pod, run), spec, end.exitCode);
  };
  if (main.some(goesOn)) return 'Running';
  return main.every((run) => endOf(run)?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** The phase of a pod whose containers are not started again, whatever its policy: it is on its way out. */
export function finalPhase(runs: readonly ContainerRun[]): Phase {
  const main = runs.filter(({ role }) => role === 'main');
  return main.every((run) => endOf(run)?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** How it ended; undefined while it runs, or waits to run for the first time. */
function endOf({ state, last }: ContainerRun): Ended | undefined {
  switch (state.type) {
    case 'running':
      return undefined;
    case 'ended':
      return state;
    case 'waiting':
      return last;
  }
}

const NOTHING: SeenContainer = { name: '' } as SeenContainer;

/** The description that a run belongs to. Containers cannot be taken out of a pod, so there is one. */
export function containerOf({ spec }: SeenPod, { name, role }: ContainerRun): SeenContainer {
  const list: readonly SeenContainer[] | undefined =
    role === 'main' ? spec.containers : role === 'ephemeral' ? spec.ephemeralContainers : spec.initContainers;
  return list?.find((each) => each.name === name) ?? NOTHING;
}
