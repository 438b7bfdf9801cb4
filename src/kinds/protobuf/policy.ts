import type { FieldNumbers } from './field-numbers.ts';

export const policy: FieldNumbers = {
  'policy/v1': {
    Eviction: 'metadata deleteOptions',
    PodDisruptionBudget: 'metadata spec status',
    PodDisruptionBudgetSpec: 'minAvailable? selector maxUnavailable? unhealthyPodEvictionPolicy?',
    PodDisruptionBudgetStatus:
      'observedGeneration disruptedPods disruptionsAllowed currentHealthy desiredHealthy expectedPods conditions',
  },
  'policy/v1beta1': {
    PodDisruptionBudget: 'metadata spec status',
    PodDisruptionBudgetSpec: 'minAvailable? selector maxUnavailable? unhealthyPodEvictionPolicy?',
    PodDisruptionBudgetStatus:
      'observedGeneration disruptedPods disruptionsAllowed currentHealthy desiredHealthy expectedPods conditions',
  },
};
