/** The phase of a pod from what is known about its containers. */

import type { SeenPod } from '../container-run.ts';
import type { Phase } from '../phase.ts';
import { exitCodeOf, hasRun, isRunning, isStarted } from './facts.ts';
import type { PodState } from './state.ts';
import { isToStart } from './steps/plan-container.ts';

/** Returns the phase that the containers result in, were nothing stopped from outside. */
export function phaseOfState(pod: SeenPod, { containers }: PodState): Phase {
  const { initContainers = [], containers: main } = pod.spec;
  const first = initContainers.length;
  const end = first + main.length;
  let started = 0;
  let willRun = 0;
  let failed = 0;
  for (let at = first; at < end; at++) {
    const each = containers[at]!;
    if (hasRun(each)) started++;
    if (isRunning(each) || isToStart(pod, main[at - first]!, each)) willRun++;
    else if (exitCodeOf(each) !== 0) failed++;
  }
  if (started === 0) {
    for (let at = 0; at < first; at++) {
      const each = containers[at]!;
      const container = initContainers[at]!;
      if (each.role === 'sidecar' ? isStarted(container, each) : exitCodeOf(each) === 0) continue;
      const hasFailed = each.role === 'init' && exitCodeOf(each) !== undefined && !isToStart(pod, container, each);
      return hasFailed ? 'Failed' : 'Pending';
    }
  }
  if (started < main.length) return 'Pending';
  if (willRun > 0) return 'Running';
  return failed > 0 ? 'Failed' : 'Succeeded';
}

/** Returns the phase of a pod whose containers have all been stopped for good. */
export function finalPhaseOf(pod: SeenPod, { containers, failure }: PodState): 'Succeeded' | 'Failed' {
  const first = pod.spec.initContainers?.length ?? 0;
  if (failure) return 'Failed';
  for (let at = first; at < first + pod.spec.containers.length; at++) {
    if (exitCodeOf(containers[at]!) !== 0) return 'Failed';
  }
  return 'Succeeded';
}
