import type { FieldNumbers } from './field-numbers.ts';

export const coordination: FieldNumbers = {
  'coordination.k8s.io/v1': {
    Lease: 'metadata spec',
    LeaseSpec:
      'holderIdentity? leaseDurationSeconds? acquireTime renewTime leaseTransitions? strategy? preferredHolder?',
  },
  'coordination.k8s.io/v1beta1': {
    LeaseCandidate: 'metadata spec',
    LeaseCandidateSpec: 'leaseName pingTime renewTime binaryVersion emulationVersion strategy',
  },
};
