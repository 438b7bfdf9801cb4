import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedApi } from '../../../test/support/scripted-api.ts';
import { ApiError } from '../../api/errors.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { type Clock, ControlledClock } from '../../base/time/clock.ts';
import { createClient } from '../client.ts';
import type { Transport } from '../transport/transport.ts';
import type { Term } from './candidate.ts';
import { type ElectionTimes, LOCAL_TIMES, type Precedence } from './options.ts';
import { runWhileLeader } from './run-while-leader.ts';

let api: ScriptedApi;
let clock: ControlledClock;
let leading: Set<string>;
let most: number;
let candidates: Candidate[];

beforeEach(() => {
  api = new ScriptedApi();
  clock = new ControlledClock();
  leading = new Set();
  most = 0;
  candidates = [];
});
afterEach(async () => {
  await Promise.all(candidates.map((candidate) => candidate.stop()));
  expect(clock.waiting).toBe(0);
});

interface Candidate {
  /** State of the connection to the server; 'hangs' never answers. */
  link: 'open' | 'cut' | 'hangs';
  /** Does no work for so many milliseconds, as with a blocked event loop. */
  block(milliseconds: number): void;
  /** Reports whether it may act; undefined when it has no term. */
  isCertain(): boolean | undefined;
  stop(): Promise<void>;
}

/** Precedence that a test gives and takes. */
class Elders implements Precedence {
  #are = false;
  readonly #listeners = new Set<() => void>();

  yields(): boolean {
    return this.#are;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(are: boolean): void {
    this.#are = are;
    for (const listener of [...this.#listeners]) listener();
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

function candidate(identity: string, times?: ElectionTimes, precedence?: Precedence): Candidate {
  const stop = new AbortController();
  let blockedUntil = 0;
  let term: Term | undefined;
  const lagging: Clock = {
    now: () => clock.now(),
    timer: (delay, task) => {
      const run = () => {
        const left = blockedUntil - clock.now();
        if (left > 0) timer = clock.timer(left, run);
        else task();
      };
      let timer = clock.timer(delay, run);
      return { cancel: () => timer.cancel() };
    },
  };
  const own: Candidate = {
    link: 'open',
    block(milliseconds) {
      blockedUntil = clock.now() + milliseconds;
    },
    isCertain: () => term?.isCertain(),
    stop: () => {
      stop.abort();
      return running;
    },
  };
  candidates.push(own);
  const through = async (call: () => Promise<any>, signal: AbortSignal | undefined): Promise<any> => {
    if (own.link === 'cut') throw new ApiError('ServiceUnavailable', 'cut');
    if (own.link === 'hangs') {
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    }
    return call();
  };
  const transport: Transport = {
    call: (request) => through(() => api.call(request), request.signal),
    watch: (request) => through(() => api.watch(request), request.signal),
  };
  const options = {
    client: createClient(transport),
    clock: lagging,
    random: systemRandom,
    log: silent,
    signal: stop.signal,
    name: 'manager',
    namespace: 'kube-system',
    identity,
    ...(times && { times }),
    precedence,
  };
  const running = runWhileLeader(options, async (own) => {
    const { signal } = own;
    term = own;
    leading.add(identity);
    most = Math.max(most, leading.size);
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (!signal.aborted) await aborted;
    leading.delete(identity);
    term = undefined;
  });
  return own;
}

/** Returns the leader `a` and another candidate, after this time. */
async function leaderAndNext(milliseconds: number, times?: ElectionTimes) {
  const a = candidate('a', times);
  await clock.advance(0);
  const b = candidate('b', times);
  await clock.advance(milliseconds);
  return { a, b };
}

const lease = () => api.get('leases', 'kube-system', 'manager')?.spec;

describe('an election', () => {
  it('has one leader, as long as it renews the lease', async () => {
    await leaderAndNext(60_000);
    expect([...leading]).toEqual(['a']);
    expect(most).toBe(1);
    expect(lease()).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: '2030-01-01T00:00:00.000000Z',
      renewTime: '2030-01-01T00:01:00.000000Z',
    });
  });

  it('gives the lease to one of two concurrent candidates', async () => {
    candidate('a');
    candidate('b');
    await clock.advance(5000);
    expect(leading.size).toBe(1);
    expect(most).toBe(1);
  });

  it('passes to the next candidate at once when the leader stops', async () => {
    const { a } = await leaderAndNext(1000);
    await a.stop();
    expect(lease()).toMatchObject({ holderIdentity: '' });
    expect(leading.size).toBe(0);
    await clock.advance(0);
    expect([...leading]).toEqual(['b']);
    expect(lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it.each(['cut', 'hangs'] as const)('ends a leader whose connection is %s before another begins', async (link) => {
    const { a } = await leaderAndNext(1000);
    a.link = link;
    await clock.advance(9500);
    expect(leading.size).toBe(0);
    await clock.advance(10_000);
    expect([...leading]).toEqual(['b']);
    expect(most).toBe(1);
    a.link = 'open';
    await clock.advance(60_000);
    expect([...leading]).toEqual(['b']);
    expect(most).toBe(1);
  });

  it('ends the term of a leader that sees another holder', async () => {
    candidate('a');
    await clock.advance(0);
    const held = api.get('leases', 'kube-system', 'manager');
    api.put('leases', { ...held, spec: { ...held?.spec, holderIdentity: 'c' } });
    await clock.advance(2000);
    expect(leading.size).toBe(0);
    await clock.advance(20_000);
    expect([...leading]).toEqual(['a']);
  });
});

describe('a candidate that another one leads before', () => {
  it('leaves a free lease alone until there is no such candidate', async () => {
    const elders = new Elders();
    elders.set(true);
    candidate('newer', LOCAL_TIMES, elders);
    await clock.advance(20_000);
    expect(lease()).toBeUndefined();
    elders.set(false);
    await clock.advance(0);
    expect([...leading]).toEqual(['newer']);
  });

  it('hands the lease over at once when such a candidate comes, and takes it back when it has gone', async () => {
    const elders = new Elders();
    candidate('newer', LOCAL_TIMES, elders);
    await clock.advance(5000);
    const older = candidate('older', LOCAL_TIMES);
    await clock.advance(5000);
    expect([...leading]).toEqual(['newer']);
    elders.set(true);
    await clock.advance(0);
    expect([...leading]).toEqual(['older']);
    await clock.advance(20_000);
    await older.stop();
    await clock.advance(20_000);
    expect(lease()).toMatchObject({ holderIdentity: '' });
    elders.set(false);
    await clock.advance(0);
    expect([...leading]).toEqual(['newer']);
    expect(most).toBe(1);
  });

  it('knows by then how long ago a leader that died has renewed the lease', async () => {
    const older = candidate('older', LOCAL_TIMES);
    await clock.advance(0);
    const elders = new Elders();
    elders.set(true);
    candidate('newer', LOCAL_TIMES, elders);
    await clock.advance(10_000);
    older.link = 'hangs';
    await clock.advance(4100);
    expect(lease()).toMatchObject({ holderIdentity: 'older' });
    elders.set(false);
    await clock.advance(0);
    expect(lease()).toMatchObject({ holderIdentity: 'newer' });
    older.link = 'open';
    await clock.advance(10_000);
    expect(most).toBe(1);
  });

  it('stops while it waits', async () => {
    const elders = new Elders();
    elders.set(true);
    await candidate('newer', LOCAL_TIMES, elders).stop();
    expect(elders.listeners).toBe(0);
  });

  it('stops while it leads, although such a candidate comes at that moment', async () => {
    const elders = new Elders();
    const newer = candidate('newer', LOCAL_TIMES, elders);
    await clock.advance(5000);
    const stopped = newer.stop();
    elders.set(true);
    await stopped;
    expect(leading.size).toBe(0);
    expect(elders.listeners).toBe(0);
  });
});

describe('candidates in servers', () => {
  it('replace one that is killed four seconds after its last renewal', async () => {
    const { a } = await leaderAndNext(10_000, LOCAL_TIMES);
    a.link = 'hangs';
    a.block(6000);
    await clock.advance(3900);
    expect(lease()).toMatchObject({ holderIdentity: 'a' });
    await clock.advance(200);
    expect(lease()).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 4 });
    expect(a.isCertain()).toBe(false);
    a.link = 'open';
    await clock.advance(10_000);
    expect([...leading]).toEqual(['b']);
  });

  it.each([0, 250, 500, 750, 999])(
    'keep the lease when blocked for two seconds, %d ms after a renewal',
    async (after) => {
      const { a } = await leaderAndNext(10_000 + after, LOCAL_TIMES);
      a.block(2000);
      await clock.advance(2000);
      expect(a.isCertain()).toBe(true);
      await clock.advance(10_000);
      expect(lease()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    },
  );

  it('are not certain after a longer block, before they can tell', async () => {
    const a = candidate('a', LOCAL_TIMES);
    await clock.advance(10_000);
    a.block(3600);
    await clock.advance(3550);
    expect([...leading]).toEqual(['a']);
    expect(a.isCertain()).toBe(false);
  });

  it('try again while the store does not answer a renewal', async () => {
    const { a } = await leaderAndNext(10_000, LOCAL_TIMES);
    a.link = 'hangs';
    await clock.advance(2100);
    a.link = 'open';
    await clock.advance(10_000);
    expect(lease()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
  });

  it('do not take over when it was they who were blocked', async () => {
    const { b } = await leaderAndNext(10_000, LOCAL_TIMES);
    b.block(6000);
    await clock.advance(20_000);
    expect(lease()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
  });

  it('ask seldom while they cannot read the lease', async () => {
    const { b } = await leaderAndNext(1000, LOCAL_TIMES);
    b.link = 'cut';
    const before = api.requests.length;
    await clock.advance(20_000);
    expect(api.requests.length - before).toBeLessThan(45);
  });
});
