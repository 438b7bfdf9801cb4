import { expect, it } from 'vitest';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Front } from './fronts.ts';
import { Picker } from './picker.ts';

const A = { address: '10.0.0.1', port: 80, isLocal: true };
const B = { address: '10.0.0.2', port: 80, isLocal: true };
const C = { address: '10.0.0.3', port: 80, isLocal: true };
const CLIENT = '192.0.2.1';

/** Draws the given numbers, one after the other. */
const drawing = (...numbers: number[]) =>
  new Picker(systemClock, { ...systemRandom, int: (limit) => (numbers.shift() ?? 0) % limit });
const front = (affinity?: Front['affinity']): Front => ({
  ...{ protocol: 'tcp', host: '127.0.0.1', port: 80, endpoints: [A, B, C], allowedSources: undefined, affinity },
});
const sticky = front({ key: 'test/a', seconds: 60 });

it('picker remembers a client with affinity before it is connected', () => {
  const picker = drawing(1, 2, 0);
  expect(picker.pick(sticky, CLIENT)).toBe(B);
  expect(picker.pick(sticky, CLIENT)).toBe(B);
  expect(picker.pick(sticky, '192.0.2.2')).toBe(C);
});

it('picker sends connections that failed together to the same endpoint', () => {
  const picker = drawing(0, 1, 0);
  expect([picker.pick(sticky, CLIENT), picker.pick(sticky, CLIENT)]).toEqual([A, A]);
  expect([picker.pick(sticky, CLIENT, [A]), picker.pick(sticky, CLIENT, [A])]).toEqual([C, C]);
  expect(picker.pick(sticky, CLIENT)).toBe(C);
});

it('picker tries every endpoint once', () => {
  const picker = drawing(2, 1, 0);
  const failed: (typeof A)[] = [];
  for (let next = picker.pick(front(), CLIENT); next; next = picker.pick(front(), CLIENT, failed)) failed.push(next);
  expect(failed).toEqual([C, B, A]);
});
