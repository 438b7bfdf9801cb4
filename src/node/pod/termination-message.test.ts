import { expect, test } from 'vitest';
import { podStatus } from './pod-status.ts';
import { truncated } from './termination-message.ts';

const messages = (count: number, message: string) => {
  const containers = Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'i' }));
  const ended = { exitCode: 1, reason: 'Error', message, finishedAt: 0, id: '' };
  const runs = containers.map(({ name }) => ({
    ...{ name, role: 'main', image: 'i', imageID: '', restarts: 1, ready: false, last: ended },
    state: { type: 'ended', ...ended },
  }));
  const pod = { metadata: {}, spec: { containers }, status: {} };
  const report = { pod, phase: 'Failed', runs, hasSandbox: false, now: 0, startTime: 0, hostIP: '', podIP: undefined };
  const { containerStatuses } = podStatus(report as any, []);
  return containerStatuses.flatMap(({ state, lastState }: any) => [
    state.terminated.message.length,
    lastState.terminated.message.length,
  ]);
};

test('a termination message is truncated above 4096 bytes, and to its part of 12kb where a pod has many containers', () => {
  expect(messages(1, 'x'.repeat(4096))).toEqual([4096, 4096]);
  expect(messages(1, 'x'.repeat(4097))).toEqual([4096, 4096]);
  expect(new Set(messages(3, 'x'.repeat(5000)))).toEqual(new Set([4096]));
  expect(new Set(messages(12, 'x'.repeat(5000)))).toEqual(new Set([1024]));
});

test('a message is cut at a character boundary', () => {
  expect(truncated('a€b', 5)).toBe('a€b');
  expect(truncated('a€b', 4)).toBe('a€');
  expect(truncated('a€b', 3)).toBe('a');
  expect(truncated('a€b', 1)).toBe('a');
});
