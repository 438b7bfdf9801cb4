import { expect, it } from 'vitest';
import { boundClaim } from '../../../../test/support/volume-objects.ts';
import { planExpansion } from './expander.ts';

it.each([
  ['1Gi', []],
  ['2Gi', [{ reason: 'ExternalExpanding', message: 'waiting for an external controller to expand this PVC' }]],
])('a claim that has 1Gi and asks for %s', (storage, said) => {
  const claim = boundClaim('data', 'v', { spec: { resources: { requests: { storage } } } });
  expect(planExpansion(claim)).toMatchObject(said);
});
