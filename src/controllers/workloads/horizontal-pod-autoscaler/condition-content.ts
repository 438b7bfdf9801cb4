import type { Condition } from '../../shared/conditions.ts';

/** A condition of an autoscaler, without its time. */
export type ConditionContent = Omit<Condition, 'lastTransitionTime'>;

export const condition = (
  type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited',
  isTrue: boolean,
  reason: string,
  message: string,
): ConditionContent => ({ type, status: isTrue ? 'True' : 'False', reason, message });
