import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { ControlledClock } from '../../../base/clock.ts';
import { silent } from '../../../base/log.ts';
import { BacklogLimiter, responseBytes } from './backlog-limiter.ts';

const KB = 1024;

function setUp(maxBytes: number) {
  const clock = new ControlledClock();
  const limiter = new BacklogLimiter({ maxBytes, warning: '', clock, log: silent });
  const closed: string[] = [];
  const reply = (name: string, bytes: number) => {
    const emitter = new EventEmitter();
    limiter.add(bytes, emitter, { destroy: () => closed.push(name) });
    return { taken: () => emitter.emit('close') };
  };
  return { clock, closed, reply };
}

it('closes slow connections once a fraction of the limit is pending', async () => {
  const { clock, closed, reply } = setUp(100 * KB);
  reply('slow', 20 * KB);
  await clock.advance(5_000);
  reply('a', 4 * KB);
  expect(closed).toEqual([]);
  reply('b', 4 * KB);
  expect(closed).toEqual(['slow']);
});

it('above the limit, closes the connections that have been pending longest, and never those that read their replies', async () => {
  const { closed, reply } = setUp(100 * KB);
  for (let i = 0; i < 1000; i++) reply('fast', 50 * KB).taken();
  reply('first', 60 * KB);
  reply('second', 30 * KB);
  expect(closed).toEqual([]);
  reply('third', 30 * KB);
  expect(closed).toEqual(['first']);
});

it('stops counting a reply when it was sent or its connection is closed', () => {
  const { closed, reply } = setUp(100 * KB);
  const first = reply('first', 60 * KB);
  reply('second', 60 * KB);
  expect(closed).toEqual(['first']);
  // Its stream closes with the connection.
  first.taken();
  reply('third', 39 * KB);
  expect(closed).toEqual(['first']);
});

it('ignores small replies', () => {
  const { closed, reply } = setUp(10 * KB);
  for (let i = 0; i < 100; i++) reply('small', 1000);
  expect(closed).toEqual([]);
});

it('counts of a response that clients share only what each of them has copied', () => {
  expect(responseBytes(Buffer.alloc(1024 * KB))).toBe(1024 * KB);
  expect(responseBytes(Buffer.from(new SharedArrayBuffer(1024 * KB)))).toBe(128 * KB);
});
