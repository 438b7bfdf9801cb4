import { expect, it } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { EventCorrelation } from './event-correlation.ts';

const content = (message: string) => ({ type: 'Normal', reason: 'R', message }) as const;

it('the cache of events is limited by the length of its texts, not only by the number of events', () => {
  const correlation = new EventCorrelation(new ControlledClock());
  expect(correlation.record('first', content('m'))?.count).toBe(1);
  expect(correlation.record('first', content('m'))?.count).toBe(2);
  for (let at = 0; at < 1000; at++) correlation.record(`other-${at}`, content(`${at} ${'x'.repeat(10_000)}`));
  expect(correlation.record('first', content('m'))?.count).toBe(1);
});

it('the cache of events keeps many short events', () => {
  const correlation = new EventCorrelation(new ControlledClock());
  correlation.record('first', content('m'));
  for (let at = 0; at < 1000; at++) correlation.record(`other-${at}`, content('m'));
  expect(correlation.record('first', content('m'))?.count).toBe(2);
});
