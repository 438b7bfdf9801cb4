import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedApi } from '../../test/support/scripted-api.ts';
import { ApiError } from '../api/errors.ts';
import { silent } from '../base/log.ts';
import { systemRandom } from '../base/random.ts';
import { ControlledClock } from '../base/time/clock.ts';
import { createClient } from './client.ts';
import { runWhileLeader } from './leader-election.ts';
import type { Transport } from './transport/transport.ts';

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
  stop(): Promise<void>;
}

function candidate(identity: string): Candidate {
  const stop = new AbortController();
  const own: Candidate = {
    link: 'open',
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
    clock,
    random: systemRandom,
    log: silent,
    signal: stop.signal,
    name: 'manager',
    namespace: 'kube-system',
    identity,
  };
  const running = runWhileLeader(options, async (signal) => {
    leading.add(identity);
    most = Math.max(most, leading.size);
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (!signal.aborted) await aborted;
    leading.delete(identity);
  });
  return own;
}

const lease = () => api.get('leases', 'kube-system', 'manager')?.spec;

describe('an election', () => {
  it('has one leader, as long as it renews the lease', async () => {
    candidate('a');
    await clock.advance(0);
    candidate('b');
    await clock.advance(60_000);
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
    const a = candidate('a');
    await clock.advance(0);
    candidate('b');
    await clock.advance(1000);
    await a.stop();
    expect(lease()).toMatchObject({ holderIdentity: '' });
    expect(leading.size).toBe(0);
    await clock.advance(4000);
    expect([...leading]).toEqual(['b']);
    expect(lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it.each(['cut', 'hangs'] as const)('ends a leader whose connection is %s before another begins', async (link) => {
    const a = candidate('a');
    await clock.advance(0);
    candidate('b');
    await clock.advance(1000);
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
