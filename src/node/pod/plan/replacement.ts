import type { ContainerState, PodState, StepState } from './state.ts';
import { wasStoppedForChange } from './steps/plan-container.ts';

/**
 * Reports whether a container that was stopped for its changed spec is being started again. kubelet stops and starts it
 * within one sync, so that no status shows the time in between; a failure of the start is shown.
 */
export function isReplacingContainer({ containers, stopRequestedAt, endPhase }: PodState): boolean {
  if (stopRequestedAt !== undefined || endPhase !== undefined) return false;
  return containers.some((state) => wasStoppedForChange(state) && isStarting(state));
}

const isStarting = ({ image, start }: ContainerState) => isFirstTry(image) || isFirstTry(start);

const isFirstTry = (step: StepState) => step.type === 'doing' && step.failures === 0;
