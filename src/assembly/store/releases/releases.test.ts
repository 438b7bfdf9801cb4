import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Release } from '../../../api/release.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { createServer, type Server } from '../../../server/index.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { changeClusterRow, readClusterRow } from './cluster-row.ts';
import { joinServers } from './join-servers.ts';
import { keepReleaseRecorded, recorded } from './record-release.ts';
import { stopBelowMinimum } from './stop-below.ts';

const OLD = { version: '0.1.0', level: 1 };
const NEW = { version: '0.2.0', level: 2 };
const NEWEST = { version: '0.3.0', level: 2 };

let clock: ControlledClock;
let store: MemoryStore;
const stops: (() => Promise<void>)[] = [];
beforeEach(() => {
  clock = new ControlledClock();
  store = new MemoryStore({ clock });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await store.close();
});

interface Running {
  readonly server: Server;
  /** Resolves when it is one of the servers. */
  join(): Promise<void>;
  /** Leads, as far as releases are concerned. */
  lead(): void;
  leave(): Promise<void>;
  kill(): void;
}

let nextPort = 6443;

/** A server of a release; those of a test share the memory store, as processes share etcd. */
async function start(release: Release): Promise<Running> {
  const peer = { hostname: 'host', release, candidateFor: [] };
  const advertise = { address: '192.0.2.1', port: nextPort++ };
  const server = await createServer({ store, kinds: allKinds, clock, freeze: true, advertise, peer });
  const stop = new AbortController();
  let leave = async () => {};
  const end = () => {
    stop.abort();
    server.close();
  };
  stops.push(async () => end());
  return {
    server,
    async join() {
      leave = await server.join();
      await joinServers({ store, server, release, clock });
    },
    lead: () => {
      void keepReleaseRecorded({ store, server, release, clock, random: systemRandom, log: silent }, stop.signal);
    },
    async leave() {
      await leave();
      end();
    },
    kill: end,
  };
}

async function joined(release: Release): Promise<Running> {
  const running = await start(release);
  await running.join();
  return running;
}

const row = () => readClusterRow(store);

/** Lets all servers renew their leases for so many seconds. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await clock.advance(1000);
}

describe('the minimum level of servers', () => {
  it('rises when the last server of a lower level has left', async () => {
    const older = await joined(OLD);
    const newer = await joined(NEW);
    newer.lead();
    await pass(10);
    expect(await row()).toMatchObject({ level: 1, release: '0.1' });
    await older.leave();
    await clock.advance(0);
    expect(await row()).toMatchObject({ level: 2, release: '0.2' });
    await expect(joined(OLD)).rejects.toThrow('needs servers of level 2 and was last run by Quarterdeck 0.2');
  });

  it('rises only after the lease of one that was killed has expired', async () => {
    const older = await joined(OLD);
    const newer = await joined(NEW);
    newer.lead();
    await pass(2);
    older.kill();
    await pass(2);
    expect(await row()).toMatchObject({ level: 1 });
    await pass(4);
    expect(await row()).toMatchObject({ level: 2 });
  });

  it('stays when an older server joins while the leader decides', async () => {
    const newer = await joined(NEW);
    const older = await start(OLD);
    const commit = store.commit.bind(store);
    let isHeld = true;
    // The leader has read all leases; before it writes, the older one joins.
    store.commit = async (writes, conditions) => {
      const isRaise = writes.some(
        ({ key, value }) => key === '/quarterdeck/settings' && String(value).includes('"level":2'),
      );
      if (isRaise && isHeld) {
        isHeld = false;
        await older.join();
      }
      return commit(writes, conditions);
    };
    newer.lead();
    await pass(3);
    expect(isHeld).toBe(false);
    expect(await row()).toMatchObject({ level: 1, release: '0.1' });
  });

  it('never falls, and the release follows the oldest server', async () => {
    const settings = {};
    const content = { level: 1, release: '0.2', settings };
    expect(
      recorded(content, [
        { version: '0.3.0', level: 1 },
        { version: '0.2.4', level: 1 },
      ]),
    ).toBeUndefined();
    expect(recorded(content, [{ version: '0.1.0', level: 1 }])).toEqual({ level: 1, release: '0.1', settings });
    expect(recorded({ ...content, level: 3 }, [NEW])).toBeUndefined();
    expect(recorded(content, [NEW, undefined])).toBeUndefined();
  });
});

describe('a server that others took for dead', () => {
  it('stops when the minimum level has risen above its own', async () => {
    const stopped = new AbortController();
    const options = { store, clock, log: silent, signal: stopped.signal };
    let stops = 0;
    const stop = () => {
      stops++;
    };
    stopBelowMinimum({ ...options, release: OLD, stop });
    stopBelowMinimum({ ...options, release: NEW, stop: () => expect.unreachable('the level is its own') });
    await changeClusterRow(store, (empty) => ({ ...empty, level: 1 }));
    await clock.advance(0);
    expect(stops).toBe(0);
    await changeClusterRow(store, (seen) => ({ ...seen, level: 2 }));
    await clock.advance(0);
    expect(stops).toBe(1);
    stopped.abort();
  });
});

describe('a server that joins', () => {
  it('is rejected beside one whose release differs by more than one minor version', async () => {
    const older = await joined(OLD);
    const rejected = expect(joined(NEWEST)).rejects.toThrow(
      /^the server at 192\.0\.2\.1:\d+ is Quarterdeck 0\.1\.0, and this is 0\.3\.0: servers on one store differ by one minor/,
    );
    await pass(10);
    await rejected;
    await older.leave();
  });

  it('waits for the lease of such a server when that has died', async () => {
    const older = await joined(OLD);
    await pass(1);
    older.kill();
    const newest = await start(NEWEST);
    let isJoined = false;
    const joining = newest.join().then(() => {
      isJoined = true;
    });
    await pass(2);
    expect(isJoined).toBe(false);
    await pass(8);
    await joining;
  });

  it('keeps the settings that others have agreed on', async () => {
    await changeClusterRow(store, (empty) => ({ ...empty, level: 1, settings: { clusterDomain: 'lab.example' } }));
    await joined(OLD);
    expect(await row()).toMatchObject({ level: 1, settings: { clusterDomain: 'lab.example' } });
  });
});

it('without other servers, the level and the release are those of the one that runs', async () => {
  const server = await createServer({ store, kinds: allKinds, clock, freeze: true });
  const stop = new AbortController();
  const recording = keepReleaseRecorded(
    { store, server, release: NEW, clock, random: systemRandom, log: silent },
    stop.signal,
  );
  await clock.advance(0);
  expect(await row()).toMatchObject({ level: 2, release: '0.2' });
  stop.abort();
  await recording;
  server.close();
});
