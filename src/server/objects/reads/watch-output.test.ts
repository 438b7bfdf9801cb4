import { beforeEach, describe, expect, it } from 'vitest';
import type { WatchBatch, WatchEvent } from '../../../api/reply.ts';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { WatchBacklogs } from './watch-backlogs.ts';
import { batchOf } from './watch-channel.ts';
import { WatchOutput } from './watch-output.ts';

const MB = 1024 * 1024;

/** A client that reads when told to. */
class Client {
  readonly batches: WatchBatch[] = [];
  unread = 0;
  isEnded = false;
  #onProgress = () => {};
  readonly output: WatchOutput;

  constructor(backlogs: WatchBacklogs) {
    const consumer = {
      events: (batch: WatchBatch) => {
        this.batches.push(batch);
        this.unread += batch.json().length;
      },
      backlog: () => this.unread,
      onProgress: (listener: () => void) => {
        this.#onProgress = listener;
      },
      end: () => undefined,
    };
    this.output = new WatchOutput(consumer, backlogs, () => {
      this.isEnded = true;
      this.output.close();
    });
  }

  get received(): WatchEvent[] {
    return this.batches.flatMap(({ events }) => events);
  }

  read(): void {
    this.unread = 0;
    this.#onProgress();
  }
}

function eventOf(bytes: number, name = 'x'): WatchEvent & { encoded: number } {
  const json = Buffer.alloc(bytes, name);
  const event = {
    type: 'ADDED' as const,
    object: { kind: 'Pod', apiVersion: 'v1', metadata: { name } } as never,
    encoded: 0,
    json() {
      event.encoded++;
      return json;
    },
  };
  return event;
}

let clock: ControlledClock;
let backlogs: WatchBacklogs;

beforeEach(() => {
  clock = new ControlledClock();
  backlogs = new WatchBacklogs({ clock, log: silent });
});

describe('a watch whose client does not read', () => {
  it('gets only a window of its large initial objects, and nothing else is encoded', () => {
    const client = new Client(backlogs);
    const events = Array.from({ length: 10 }, (_, i) => eventOf(MB / 4, String(i)));
    client.output.send(batchOf(events), true);
    expect(client.received).toEqual(events.slice(0, 2));
    for (let i = 0; i < 5; i++) client.read();
    expect(client.received).toEqual(events);
    expect(client.output.isBehind).toBe(false);
  });

  it('keeps new events, and sends them when the client reads, in order', () => {
    const client = new Client(backlogs);
    const events = Array.from({ length: 10 }, (_, i) => eventOf(MB, String(i)));
    for (const event of events) client.output.send(batchOf([event]), false);
    expect(client.received).toEqual(events.slice(0, 1));
    expect(client.output.isBehind).toBe(true);
    for (let i = 0; i < 10; i++) client.read();
    expect(client.received).toEqual(events);
    expect(client.output.isBehind).toBe(false);
    expect(backlogs.waitingBytes).toBe(0);
    expect(backlogs.inFlight).toBe(0);
  });

  it('is ended at a backlog of more than 16 MB', () => {
    const client = new Client(backlogs);
    for (let i = 0; i < 16; i++) client.output.send(batchOf([eventOf(MB)]), false);
    expect(client.isEnded).toBe(false);
    client.output.send(batchOf([eventOf(MB)]), false);
    expect(client.isEnded).toBe(true);
    expect(backlogs.waitingBytes).toBe(0);
    expect(backlogs.inFlight).toBe(0);
  });

  it('is ended after a minute, but not while it makes progress', async () => {
    const [silentClient, slowClient] = [new Client(backlogs), new Client(backlogs)];
    for (const client of [silentClient, slowClient]) {
      for (let i = 0; i < 10; i++) client.output.send(batchOf([eventOf(MB)]), false);
    }
    for (let i = 0; i < 8; i++) {
      await clock.advance(10_000);
      slowClient.read();
    }
    expect([silentClient.isEnded, slowClient.isEnded]).toEqual([true, false]);
    slowClient.output.close();
    await clock.advance(60_000);
    expect(clock.waiting).toBe(0);
  });

  it('gets large collections in parts, which do not count as falling behind', () => {
    const client = new Client(backlogs);
    const events = Array.from({ length: 10_000 }, () => eventOf(10_000));
    client.output.send(batchOf(events), true);
    expect(client.received.length).toBeLessThan(200);
    client.output.send(batchOf([eventOf(MB)]), false);
    expect(client.isEnded).toBe(false);
    while (client.output.isBehind) client.read();
    expect(client.received.length).toBe(10_001);
  });

  it('is ended together with others in the order in which they fell behind', () => {
    const clients = Array.from({ length: 8 }, () => new Client(backlogs));
    for (const client of clients) {
      for (let i = 0; i < 13; i++) client.output.send(batchOf([eventOf(MB)]), false);
    }
    expect(backlogs.waitingBytes).toBeLessThanOrEqual(64 * MB);
    expect(clients.map(({ isEnded }) => isEnded)).toEqual([true, true, true, false, false, false, false, false]);
  });

  it('shares its backlog with others, so that it counts once', () => {
    const clients = Array.from({ length: 100 }, () => new Client(backlogs));
    for (let i = 0; i < 10; i++) {
      const batch = batchOf([eventOf(MB)]);
      for (const client of clients) client.output.send(batch, false);
    }
    expect(clients.some(({ isEnded }) => isEnded)).toBe(false);
    expect(backlogs.waitingBytes).toBe(9 * MB);
    for (const client of clients) client.output.close();
    expect(backlogs.waitingBytes).toBe(0);
  });

  it('has a smaller window while many other clients do not read either', () => {
    const clients = Array.from({ length: 1_000 }, () => new Client(backlogs));
    const small = Array.from({ length: 60 }, () => batchOf([eventOf(10_000)]));
    for (const batch of small) for (const client of clients) client.output.send(batch, false);
    expect(backlogs.inFlight).toBeLessThan(80 * MB);
    const one = new Client(backlogs);
    for (const batch of small) one.output.send(batch, false);
    for (let i = 0; i < 60; i++) one.read();
    expect(one.received.length).toBe(60);
  });
});

it('a consumer that reports no progress gets everything at once', () => {
  const received: WatchBatch[] = [];
  const consumer = { events: (batch: WatchBatch) => received.push(batch), backlog: () => 0, end: () => undefined };
  const output = new WatchOutput(consumer, backlogs, () => undefined);
  const batch = batchOf(Array.from({ length: 1_000 }, () => eventOf(MB / 1_000)));
  output.send(batch, true);
  expect(received.map(({ events }) => events)).toEqual([batch.events]);
});
