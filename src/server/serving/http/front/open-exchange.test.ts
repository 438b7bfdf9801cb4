import { expect, it } from 'vitest';
import type { Exchange } from '../../exchange.ts';
import { OpenExchange } from './open-exchange.ts';

it('an exchange is closed only when it is followed, if its client has disconnected before', () => {
  const closed: number[] = [];
  const disconnections: number[] = [];
  const host = {
    send: () => undefined,
    disconnected: (id: number) => disconnections.push(id),
    reportProgress: () => undefined,
    collections: 0,
    closed: (id: number) => closed.push(id),
  };
  const disconnected = { onClose: (listener: () => void) => listener() } as unknown as Exchange;
  const exchange = new OpenExchange(7, disconnected, host);
  expect(closed).toEqual([]);
  exchange.followClient();
  expect(closed).toEqual([7]);
  expect(disconnections).toEqual([7]);
});

it('an exchange reports the size of a large response that is no longer needed', () => {
  const closed: [number, number][] = [];
  const host = {
    send: () => undefined,
    disconnected: () => undefined,
    reportProgress: () => undefined,
    collections: 0,
    closed: (id: number, largeBytes: number) => closed.push([id, largeBytes]),
  };
  let close = () => {};
  const client = {
    reply: () => undefined,
    onClose: (listener: () => void) => (close = listener),
  } as unknown as Exchange;
  const small = new OpenExchange(1, client, host);
  small.followClient();
  small.reply(200, 'application/json', { body: Buffer.alloc(10), extra: [] });
  expect(closed).toEqual([[1, 0]]);
  const large = new OpenExchange(2, client, host);
  large.followClient();
  large.reply(200, 'application/json', { body: Buffer.alloc(100_000), extra: [] });
  expect(closed).toHaveLength(1);
  close();
  expect(closed).toEqual([
    [1, 0],
    [2, 100_000],
  ]);
});

it('an exchange counts shared memory only if it was collected in vain while it was being sent', () => {
  const closed: number[] = [];
  const host = {
    send: () => undefined,
    disconnected: () => undefined,
    reportProgress: () => undefined,
    collections: 0,
    closed: (_id: number, largeBytes: number) => closed.push(largeBytes),
  };
  const body = Buffer.from(new SharedArrayBuffer(100_000));
  const respond = (id: number) => {
    let close = () => {};
    const client = { reply: () => undefined, onClose: (listener: () => void) => (close = listener) };
    const exchange = new OpenExchange(id, client as unknown as Exchange, host);
    exchange.followClient();
    exchange.reply(200, 'application/json', { body, extra: [] });
    return () => close();
  };
  const [first, second] = [respond(1), respond(2)];
  first();
  host.collections++;
  second();
  expect(closed).toEqual([0, 100_000]);
});

it('an exchange is dropped when its response has headers that cannot be sent', () => {
  let isAborted = false;
  const refusing = {
    startResponse: () => {
      throw new RangeError('Invalid status code: 0');
    },
    abort: () => {
      isAborted = true;
    },
  } as unknown as Exchange;
  const ignore = () => undefined;
  const host = { send: ignore, disconnected: ignore, reportProgress: ignore, collections: 0, closed: ignore };
  new OpenExchange(7, refusing, host).response(0, []);
  expect(isAborted).toBe(true);
});
