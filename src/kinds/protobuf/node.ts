import type { FieldNumbers } from './field-numbers.ts';

export const node: FieldNumbers = {
  'node.k8s.io/v1': {
    Overhead: 'podFixed',
    RuntimeClass: 'metadata handler overhead scheduling',
    Scheduling: 'nodeSelector tolerations',
  },
};
