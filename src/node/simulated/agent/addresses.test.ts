import { expect, test } from 'vitest';
import { AddressPool, subnetsOf } from './addresses.ts';

test('nodes have 256 addresses each where there is room, and fewer where there is not', () => {
  expect(subnetsOf('10.244.0.0/16', 3)?.at(2)).toBe('10.244.2.0/24');
  expect(subnetsOf('10.244.0.0/16', 300)?.at(1)).toBe('10.244.0.128/25');
  expect(subnetsOf('10.128.0.0/9', 5_000)?.at(4_999)).toBe('10.147.135.0/24');
  expect(subnetsOf('10.244.0.0/24', 33)).toBeUndefined();
});

test('an address is one pod’s until it is given back, and then comes last', () => {
  const pool = new AddressPool('10.0.0.0/29');
  const all = Array.from({ length: 5 }, (_, index) => pool.take(`pod-${index}`));
  expect(all).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
  expect(pool.take('more')).toBeUndefined();
  pool.give('10.0.0.4', 'pod-2');
  expect(pool.take('more')).toBe('10.0.0.4');
});

test('an address that a pod has already is not given to another', () => {
  const pool = new AddressPool('10.0.0.0/29');
  pool.keep('10.0.0.2', 'known');
  expect(pool.take('more')).toBe('10.0.0.3');
});

test('a pod that has given its address back does not take it from the one that has it now', () => {
  const pool = new AddressPool('10.0.0.0/29');
  for (let index = 0; index < 5; index++) pool.take(`pod-${index}`);
  // It ended, and later it is removed.
  pool.give('10.0.0.3', 'pod-1');
  expect(pool.take('next')).toBe('10.0.0.3');
  pool.give('10.0.0.3', 'pod-1');
  expect(pool.take('one-too-many')).toBeUndefined();
});
