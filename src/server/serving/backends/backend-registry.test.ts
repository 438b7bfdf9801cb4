import { expect, it } from 'vitest';
import { compareVersions } from './backend-registry.ts';

it('orders versions by stability, then by age', () => {
  const versions = ['g/v1', 'g/v10', 'g/v2', 'g/v1beta2', 'g/v1beta1', 'g/v2alpha1', 'g/v1alpha1', 'g/foo'];
  expect([...versions].sort(compareVersions)).toEqual([
    'g/v10',
    'g/v2',
    'g/v1',
    'g/v1beta2',
    'g/v1beta1',
    'g/v2alpha1',
    'g/v1alpha1',
    'g/foo',
  ]);
});
