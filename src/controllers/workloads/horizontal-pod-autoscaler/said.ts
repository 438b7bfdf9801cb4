import type { Condition } from '../../shared/conditions.ts';

/** What holds for an autoscaler, before it is known since when. */
export type Said = Omit<Condition, 'lastTransitionTime'>;

export const condition = (
  type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited',
  isTrue: boolean,
  reason: string,
  message: string,
): Said => ({ type, status: isTrue ? 'True' : 'False', reason, message });
