import type { FieldNumbers } from './field-numbers.ts';

export const scheduling: FieldNumbers = {
  'scheduling.k8s.io/v1': {
    PriorityClass: 'metadata value globalDefault description preemptionPolicy?',
  },
};
