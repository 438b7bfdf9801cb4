import { expect, test } from 'vitest';
import { AddressPool, subnetsOf } from './addresses.ts';

test('nodes have 256 addresses each where there is room, and fewer where there is not', () => {
  expect(subnetsOf('10.244.0.0/16', 3)?.at(2)).toBe('10.244.2.0/24');
  expect(subnetsOf('10.244.0.0/16', 300)?.at(1)).toBe('10.244.0.128/25');
  expect(subnetsOf('10.128.0.0/9', 5_000)?.at(4_999)).toBe('10.147.135.0/24');
  expect(subnetsOf('10.244.0.0/24', 33)).toBeUndefined();
});

test('an address belongs to one pod until it is released, and is then reused last', () => {
  const pool = new AddressPool('10.0.0.0/29');
  const all = Array.from({ length: 5 }, (_, index) => pool.allocate(`pod-${index}`));
  expect(all).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
  expect(pool.allocate('more')).toBeUndefined();
  pool.release('10.0.0.4', 'pod-2');
  expect(pool.allocate('more')).toBe('10.0.0.4');
});

test('a reserved address is not allocated', () => {
  const pool = new AddressPool('10.0.0.0/29');
  pool.reserve('10.0.0.2', 'known');
  expect(pool.allocate('more')).toBe('10.0.0.3');
});

test('a pod cannot release an address that another pod has now', () => {
  const pool = new AddressPool('10.0.0.0/29');
  for (let index = 0; index < 5; index++) pool.allocate(`pod-${index}`);
  // Released when the pod ends, and once more when it is deleted.
  pool.release('10.0.0.3', 'pod-1');
  expect(pool.allocate('next')).toBe('10.0.0.3');
  pool.release('10.0.0.3', 'pod-1');
  expect(pool.allocate('one-too-many')).toBeUndefined();
});
