import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/time/clock.ts';
import { AgentEvents } from './agent-events.ts';

const burst = (nodes: number, times: number, clock = new ControlledClock()) => {
  let count = 0;
  const recorder = { event: () => void count++, flushed: async () => {} };
  const events = new AgentEvents(clock, nodes, () => recorder);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
  return {
    emit: () => {
      for (let time = 0; time < times; time++) events.nodeEvent(node, 'NodeReady');
      return count;
    },
    clock,
  };
};

test('a few nodes have an event budget each, and a fleet shares one', () => {
  expect(burst(1, 1_000).emit()).toBe(100);
  expect(burst(3, 1_000).emit()).toBe(300);
  expect(burst(5, 1_000).emit()).toBe(500);
  expect(burst(6, 1_000).emit()).toBe(100);
  expect(burst(5_000, 1_000).emit()).toBe(100);
});

test('the budget refills with time', async () => {
  const { emit, clock } = burst(2, 1_000);
  emit();
  await clock.advance(1_000);
  expect(emit()).toBe(300);
  await clock.advance(3_600_000);
  expect(emit()).toBe(500);
});
