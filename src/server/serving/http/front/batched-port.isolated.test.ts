import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { allocateSharable, makeMovable } from '../../../../base/bytes/shared-buffer.ts';
import { collectGarbage } from '../node-internals.ts';
import { BatchedPort, MAX_UNRECEIVED_BYTES } from './batched-port.ts';

type Sized = readonly [name: string, bytes: number];

let channel: MessageChannel;
let sender: BatchedPort<Sized, Sized>;

beforeEach(() => {
  channel = new MessageChannel();
  sender = new BatchedPort(channel.port1);
  sender.onMessage(() => undefined);
});

afterEach(() => channel.port1.close());

const ofBytes = (length: number) => Buffer.allocUnsafeSlow(length).fill('x');

function send(bytes: Buffer): void {
  sender.send(['bytes', bytes.length], bytes);
}

/** Collects everything that is sent from now on. */
function receive(port: MessagePort): Buffer[] {
  const received: Buffer[] = [];
  new BatchedPort<Sized, Sized>(port).onMessage(([, length], take) => received.push(take(length)));
  return received;
}

it('copies bytes that its sender keeps, and moves those it gives away', async () => {
  const received = receive(channel.port2);
  const kept = ofBytes(200_000);
  const moved = makeMovable(ofBytes(300_000));
  send(kept);
  send(moved);
  send(Buffer.from('small'));
  await once(channel.port2, 'message');
  expect(received.map(({ length }) => length)).toEqual([200_000, 300_000, 5]);
  expect(received[1]!.equals(ofBytes(300_000))).toBe(true);
  expect(received[2]!.toString()).toBe('small');
  expect(kept).toHaveLength(200_000);
  expect(moved).toHaveLength(0);
});

it('makes senders of large buffers wait, one after the other, while the other thread has not handled many', async () => {
  expect(sender.room()).toBeUndefined();
  send(ofBytes(MAX_UNRECEIVED_BYTES));
  expect(sender.room()).toBeUndefined();
  send(ofBytes(MAX_UNRECEIVED_BYTES));
  const proceeded: number[] = [];
  for (let i = 0; i < 3; i++) {
    void sender.room()?.then(() => {
      proceeded.push(i);
      send(ofBytes(MAX_UNRECEIVED_BYTES + 1));
    });
  }
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  expect(proceeded).toEqual([]);
  const received = receive(channel.port2);
  const most: number[] = [];
  while (received.length < 5) {
    most.push(proceeded.length + 2 - received.length);
    await setImmediate();
  }
  expect(proceeded).toEqual([0, 1, 2]);
  expect(Math.max(...most)).toBe(2);
});

it('sends small buffers without waiting', async () => {
  for (let i = 0; i < 300; i++) send(ofBytes(63 * 1024));
  expect(sender.room()).toBeUndefined();
  const received = receive(channel.port2);
  while (received.length < 300) await setImmediate();
});

it('notifies the other thread of large memory to which only that thread still refers', async () => {
  const counted: number[] = [];
  const receiver = new BatchedPort<Sized, Sized>(channel.port2);
  receiver.onMessage(([, length], take) => void take(length));
  receiver.onMemory((bytes) => counted.push(bytes));
  const kept = allocateSharable(400_000);
  send(kept);
  send(kept);
  send(makeMovable(ofBytes(200_000)));
  send(ofBytes(100_000));
  await once(channel.port2, 'message');
  expect(counted).toEqual([100_000]);
  allocateSharable(300_000);
  while (counted.length < 2) {
    collectGarbage();
    await setImmediate();
    send(Buffer.from('small'));
  }
  expect(counted).toEqual([100_000, 300_000]);
  expect(kept).toHaveLength(400_000);
});
