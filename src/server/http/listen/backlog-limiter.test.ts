import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { ControlledClock } from '../../../base/clock.ts';
import { silent } from '../../../base/log.ts';
import { Held } from './backlog-limiter.ts';

const KB = 1024;

function setUp(limit: number) {
  const clock = new ControlledClock();
  const held = new Held({ limit, complaint: '', clock, log: silent });
  const closed: string[] = [];
  const reply = (name: string, bytes: number) => {
    const emitter = new EventEmitter();
    held.add(bytes, emitter, { destroy: () => closed.push(name) });
    return { taken: () => emitter.emit('close') };
  };
  return { clock, closed, reply };
}

it('closes whoever has kept a reply waiting for long, once a share of the limit is waiting', async () => {
  const { clock, closed, reply } = setUp(100 * KB);
  reply('slow', 20 * KB);
  await clock.advance(5_000);
  reply('a', 4 * KB);
  expect(closed).toEqual([]);
  reply('b', 4 * KB);
  expect(closed).toEqual(['slow']);
});

it('closes the oldest beyond the limit, and those who take what they get never', async () => {
  const { closed, reply } = setUp(100 * KB);
  for (let i = 0; i < 1000; i++) reply('fast', 50 * KB).taken();
  reply('first', 60 * KB);
  reply('second', 30 * KB);
  expect(closed).toEqual([]);
  reply('third', 30 * KB);
  expect(closed).toEqual(['first']);
});

it('counts a reply no more when it has left, or its connection is closed', () => {
  const { closed, reply } = setUp(100 * KB);
  const first = reply('first', 60 * KB);
  reply('second', 60 * KB);
  expect(closed).toEqual(['first']);
  // Its connection's end is told as well.
  first.taken();
  reply('third', 39 * KB);
  expect(closed).toEqual(['first']);
});

it('does not count what is small', () => {
  const { closed, reply } = setUp(10 * KB);
  for (let i = 0; i < 100; i++) reply('small', 1000);
  expect(closed).toEqual([]);
});
