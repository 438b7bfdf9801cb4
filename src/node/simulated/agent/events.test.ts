import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/clock.ts';
import { Teller } from './events.ts';

const told = (nodes: number, times: number, clock = new ControlledClock()) => {
  let count = 0;
  const recorder = { event: () => void count++, flushed: async () => {} };
  const teller = new Teller(clock, nodes, () => recorder);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
  return {
    tell: () => {
      for (let time = 0; time < times; time++) teller.tellOfNode(node, 'NodeReady');
      return count;
    },
    clock,
  };
};

test('a few nodes say as much as their agents would, and a fleet no more than one', () => {
  expect(told(1, 1_000).tell()).toBe(100);
  expect(told(3, 1_000).tell()).toBe(300);
  expect(told(5, 1_000).tell()).toBe(500);
  expect(told(6, 1_000).tell()).toBe(100);
  expect(told(5_000, 1_000).tell()).toBe(100);
});

test('what may be said comes back with time', async () => {
  const { tell, clock } = told(2, 1_000);
  tell();
  await clock.advance(1_000);
  expect(tell()).toBe(300);
  await clock.advance(3_600_000);
  expect(tell()).toBe(500);
});
