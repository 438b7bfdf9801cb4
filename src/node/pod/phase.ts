/** Computes the phase of a pod from its containers. */
import { mayRestart } from '../../kinds/shapes/container/restart.ts';
import {
  type ContainerRun,
  hasStarted,
  isDone,
  type SeenContainer,
  type SeenPod,
  type Termination,
} from './container-run.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

export function phaseOf(pod: SeenPod, runs: readonly ContainerRun[]): Phase {
  const { spec } = pod;
  const main = runs.filter(({ role }) => role === 'main');
  const anyStarted = main.some(hasStarted);
  for (const run of runs) {
    if (anyStarted || (run.role !== 'init' && run.role !== 'sidecar') || isDone(run)) continue;
    const end = endOf(run);
    return end && run.role === 'init' && !mayRestart(containerOf(pod, run), spec, end.exitCode) ? 'Failed' : 'Pending';
  }
  if (!main.every(hasStarted)) return 'Pending';
  const willRun = (run: ContainerRun) => {
    const end = endOf(run);
    return !end || mayRestart(containerOf(pod, run), spec, end.exitCode);
  };
  if (main.some(willRun)) return 'Running';
  return main.every((run) => endOf(run)?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** Returns the phase of a pod that is being terminated: its containers are not restarted, whatever its policy. */
export function finalPhase(runs: readonly ContainerRun[]): Phase {
  const main = runs.filter(({ role }) => role === 'main');
  return main.every((run) => endOf(run)?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** Returns how the container ended; undefined while it runs, or before its first start. */
function endOf({ state, last }: ContainerRun): Termination | undefined {
  switch (state.type) {
    case 'running':
      return undefined;
    case 'ended':
      return state;
    case 'waiting':
      return last;
  }
}

const NO_CONTAINER: SeenContainer = { name: '' } as SeenContainer;

/** Returns the container's entry in the pod's spec. There is always one: containers cannot be removed from a pod. */
export function containerOf({ spec }: SeenPod, { name, role }: ContainerRun): SeenContainer {
  const list: readonly SeenContainer[] | undefined =
    role === 'main' ? spec.containers : role === 'ephemeral' ? spec.ephemeralContainers : spec.initContainers;
  if (!list) return NO_CONTAINER;
  return (list.length > MAX_SCANNED ? byName(list).get(name) : list.find((each) => each.name === name)) ?? NO_CONTAINER;
}

/** Longer lists get an index. */
const MAX_SCANNED = 8;

/** Lists are immutable. Everything that happens to a container looks it up, and a pod may have thousands. */
const indexes = new WeakMap<readonly SeenContainer[], ReadonlyMap<string, SeenContainer>>();

function byName(containers: readonly SeenContainer[]): ReadonlyMap<string, SeenContainer> {
  const known = indexes.get(containers);
  if (known) return known;
  const index = new Map(containers.map((container) => [container.name, container]));
  indexes.set(containers, index);
  return index;
}
