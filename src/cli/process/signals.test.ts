import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { untilStopSignal } from './signals.ts';

function setup() {
  const clock = new ControlledClock();
  const signals = new EventEmitter();
  let aborts = 0;
  const stopped = untilStopSignal(
    clock,
    () => {
      aborts++;
    },
    signals,
  );
  return { clock, signals, stopped, aborts: () => aborts };
}

test.each(['SIGINT', 'SIGTERM'] as const)('the first %s starts the stop', async (signal) => {
  const { signals, stopped, aborts } = setup();
  signals.emit(signal);
  expect(await stopped).toBe(signal);
  expect(aborts()).toBe(0);
});

test('a key press that arrives twice, from the terminal and from npm, is one', async () => {
  const { clock, signals, aborts } = setup();
  signals.emit('SIGINT');
  await clock.advance(100);
  signals.emit('SIGINT');
  expect(aborts()).toBe(0);
});

test.each(['SIGINT', 'SIGTERM'] as const)('a later SIGINT after %s ends the process at once', async (first) => {
  const { clock, signals, aborts } = setup();
  signals.emit(first);
  await clock.advance(600);
  signals.emit('SIGINT');
  expect(aborts()).toBe(1);
});

test('SIGTERM may be repeated: the stop stays graceful', async () => {
  const { clock, signals, aborts } = setup();
  for (let round = 0; round < 3; round++) {
    signals.emit('SIGTERM');
    await clock.advance(1_000);
  }
  expect(aborts()).toBe(0);
});
