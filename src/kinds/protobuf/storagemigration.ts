import type { FieldNumbers } from './field-numbers.ts';

export const storagemigration: FieldNumbers = {
  'storagemigration.k8s.io/v1beta1': {
    StorageVersionMigration: 'metadata spec status',
    StorageVersionMigrationSpec: 'resource',
    StorageVersionMigrationStatus: 'conditions resourceVersion',
  },
};
