import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { createServer, type Server } from '../../../../server/index.ts';
import { MemoryStore } from '../../../../store/memory/memory-store.ts';
import { untilAlone } from './alone.ts';

describe('a server whose objects are to be moved', () => {
  let clock: ControlledClock;
  let store: MemoryStore;
  let servers: Server[];
  let own: Server;
  beforeEach(async () => {
    clock = new ControlledClock();
    store = new MemoryStore({ clock });
    servers = [];
    own = await start('192.0.2.1');
  });
  afterEach(async () => {
    for (const server of servers) server.close();
    await store.close();
  });

  /** Starts one of several servers on the store. */
  async function start(address: string): Promise<Server> {
    const peer = { hostname: address, release: { version: '0.1.0', level: 1 }, candidateFor: [] };
    const server = await createServer({ store, kinds: allKinds, clock, advertise: { address, port: 6443 }, peer });
    servers.push(server);
    await server.join();
    return server;
  }

  /** Resolves with what the user is told, and how long it took. */
  const outcome = async () => {
    const said: string[] = [];
    const startedAt = clock.now();
    let isSettled = false;
    const settled = untilAlone(own, { clock, signal: new AbortController().signal, say: (line) => said.push(line) })
      .then(
        () => 'alone',
        (error: Error) => error.message,
      )
      .finally(() => {
        isSettled = true;
      });
    for (let step = 0; step < 100 && !isSettled; step++) await clock.advance(250);
    return { result: await settled, said, tookMs: clock.now() - startedAt };
  };

  it('waits for nothing when it is the only one', async () => {
    expect(await outcome()).toMatchObject({ result: 'alone', said: [] });
  });

  it('waits for the lease of one that has ended without a goodbye, and says so', async () => {
    const other = await start('192.0.2.2');
    other.close();
    const { result, said, tookMs } = await outcome();
    expect(result).toBe('alone');
    expect(said).toEqual(['Waiting for the lease of the server at 192.0.2.2:6443 to end.']);
    expect(tookMs).toBeLessThan(7_000);
  });

  it('rejects as soon as another one is seen to live', async () => {
    await start('192.0.2.2');
    const { result, tookMs } = await outcome();
    expect(result).toContain('another server of the cluster is at 192.0.2.2:6443');
    expect(tookMs).toBeLessThan(2_000);
  });
});
