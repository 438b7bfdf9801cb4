import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { allocateSharable } from '../../../../base/bytes/shared-buffer.ts';
import { silent } from '../../../../base/log.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { BacklogLimiter } from './backlog-limiter.ts';

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
  const list = (name: string, body: Buffer) => {
    const emitter = new EventEmitter();
    limiter.addReply(body, emitter, { destroy: () => closed.push(name) });
    return { taken: () => emitter.emit('close') };
  };
  return { clock, closed, reply, list };
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

it('closes the connections with the oldest pending data above the limit, but none that read their replies', async () => {
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
  // The stream closes with the connection.
  first.taken();
  reply('third', 39 * KB);
  expect(closed).toEqual(['first']);
});

it('ignores small replies', () => {
  const { closed, reply } = setUp(10 * KB);
  for (let i = 0; i < 100; i++) reply('small', 1000);
  expect(closed).toEqual([]);
});

it('counts memory shared by clients once, and the copies of each of them', () => {
  const { closed, list } = setUp(3_000 * KB);
  const body = allocateSharable(1_024 * KB);
  for (const name of ['first', 'second', 'third']) list(name, Buffer.from(body.buffer, body.byteOffset, body.length));
  expect(closed).toEqual([]);
  list('other', Buffer.alloc(1_500 * KB));
  expect(closed).toEqual([]);
  list('last', Buffer.alloc(200 * KB));
  expect(closed).toEqual(['first']);
});

it('counts shared memory in full while different clients wait for it, until the last of them has it', () => {
  const { closed, list } = setUp(3_000 * KB);
  const bodies = [allocateSharable(1_024 * KB), allocateSharable(1_024 * KB), allocateSharable(1_024 * KB)];
  const first = list('first', bodies[0]!);
  const again = list('again', bodies[0]!);
  list('second', bodies[1]!);
  first.taken();
  list('third', bodies[2]!);
  expect(closed).toEqual(['again']);
  again.taken();
  list('fourth', Buffer.alloc(500 * KB));
  expect(closed).toEqual(['again']);
});

it('gives the only client of a large list time to read', async () => {
  const { clock, closed, reply, list } = setUp(3_000 * KB);
  list('large', allocateSharable(2_000 * KB));
  await clock.advance(10_000);
  reply('small', 100 * KB);
  expect(closed).toEqual([]);
});
