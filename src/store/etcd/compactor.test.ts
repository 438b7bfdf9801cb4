import { describe, expect, it } from 'vitest';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { Compactor } from './compactor.ts';
import type { TxnRequest, TxnResponse } from './messages.ts';

/**
 * A fake of the part of etcd that compactors use: one key with its version, and a revision that also grows by itself.
 */
function fakeEtcd() {
  const state = { revision: 100, version: 0, compacted: [] as number[] };
  const call = async (_: unknown, { compare }: TxnRequest): Promise<TxnResponse> => {
    const succeeded = compare[0]?.version === state.version;
    if (succeeded) {
      state.version++;
      state.revision++;
    }
    const kvs = state.version
      ? [{ key: Buffer.alloc(0), value: Buffer.alloc(0), modRevision: 1, version: state.version }]
      : [];
    const header = { revision: state.revision, term: 1 };
    return { header, succeeded, responses: [{ range: { header, kvs, more: false } }] };
  };
  return { state, connection: { call: call as never } };
}

describe('the compaction of etcd', () => {
  const interval = 300_000;

  function compactor(etcd: ReturnType<typeof fakeEtcd>, clock: ControlledClock): Compactor {
    const started = new Compactor({
      connection: etcd.connection,
      clock,
      log: silent,
      intervalMilliseconds: interval,
      compact: async (revision) => {
        etcd.state.compacted.push(revision);
      },
    });
    started.start();
    return started;
  }

  it('compacts to the newest revision of an interval ago', async () => {
    const clock = new ControlledClock();
    const etcd = fakeEtcd();
    const only = compactor(etcd, clock);
    await clock.advance(interval);
    expect(etcd.state.compacted).toEqual([]);
    etcd.state.revision = 500;
    await clock.advance(interval);
    expect(etcd.state.compacted).toEqual([101]);
    etcd.state.revision = 900;
    await clock.advance(interval);
    expect(etcd.state.compacted).toEqual([101, 501]);
    only.stop();
    expect(clock.waiting).toBe(0);
  });

  it('runs once per interval, however many servers there are', async () => {
    const clock = new ControlledClock();
    const etcd = fakeEtcd();
    compactor(etcd, clock);
    await clock.advance(1000);
    const others = [compactor(etcd, clock), compactor(etcd, clock)];
    for (let i = 0; i < 6; i++) {
      etcd.state.revision += 100;
      await clock.advance(interval);
    }
    expect(etcd.state.compacted.length).toBeGreaterThanOrEqual(4);
    expect(etcd.state.compacted.length).toBeLessThanOrEqual(6);
    expect(etcd.state.compacted).toEqual([...etcd.state.compacted].sort((a, b) => a - b));
    for (const other of others) other.stop();
  });

  it('continues after a failure', async () => {
    const clock = new ControlledClock();
    const etcd = fakeEtcd();
    let broken = true;
    const { call } = etcd.connection as { call: (method: unknown, request: unknown) => Promise<unknown> };
    etcd.connection.call = (async (method: unknown, request: unknown) => {
      if (broken) throw new Error('etcd is gone');
      return call(method, request);
    }) as never;
    compactor(etcd, clock);
    await clock.advance(interval);
    broken = false;
    await clock.advance(2 * interval);
    expect(etcd.state.compacted).toHaveLength(1);
  });
});
