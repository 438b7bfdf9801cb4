import { expect, it } from 'vitest';
import { trustAnchorProblems } from './trust-anchors.ts';

it('an error message names at most a hundred problems of a bundle', () => {
  const block = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
  expect(trustAnchorProblems(block.repeat(1_000))).toHaveLength(100);
});
