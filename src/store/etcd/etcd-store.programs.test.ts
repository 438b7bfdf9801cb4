import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { etcdMissing, TestEtcd, Wire } from '../../../test/support/etcd.ts';
import { contents, describeStore, put, watching } from '../../../test/support/store/contract.ts';
import { systemClock } from '../../base/time/clock.ts';
import { StoreCompacted, StoreFull, StoreUnavailable } from '../store.ts';
import { EtcdStore, type EtcdStoreOptions } from './etcd-store.ts';
import { MembersClient } from './members/client.ts';

const missing = etcdMissing();
if (missing) console.warn(missing);

describe.skipIf(missing)('on a real etcd', () => {
  let etcd: TestEtcd;
  let count = 0;

  beforeAll(async () => {
    etcd = await TestEtcd.start();
  });

  afterAll(() => etcd.remove());

  describeStore('etcd', () =>
    EtcdStore.open({ endpoints: [etcd.endpoint], clock: systemClock, prefix: `/test${++count}` }),
  );

  describe('the etcd store', () => {
    const opened: EtcdStore[] = [];

    const open = async (options: Partial<EtcdStoreOptions> = {}) => {
      const store = await EtcdStore.open({ endpoints: [etcd.endpoint], clock: systemClock, ...options });
      opened.push(store);
      return store;
    };

    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    it('shows the writes of every other store on the same etcd', async () => {
      const prefix = '/shared';
      const [one, two] = [await open({ prefix }), await open({ prefix })];
      const watch = watching(two, await two.revision());
      const first = await put(one, '/a', '1');
      expect(await contents(two)).toEqual({ '/a': '1' });
      expect(await two.revision()).toBe(first);
      await expect(two.commit([{ key: '/a', value: null, expect: 0 }])).rejects.toMatchObject({ revision: first });
      const second = await two.commit([{ key: '/a', value: Buffer.from('2'), expect: first }]);
      expect(await contents(one)).toEqual({ '/a': '2' });
      await watch.through(second);
      expect(watch.changes.map((change) => change.revision)).toEqual([first, second]);
    });

    it('keeps keys unchanged, and separates different prefixes', async () => {
      const plain = await open();
      const other = await open({ prefix: '/elsewhere' });
      await put(plain, '/registry/pods/default/a', 'plain');
      await put(other, '/registry/pods/default/a', 'other');
      expect(await contents(plain, '/registry/')).toEqual({ '/registry/pods/default/a': 'plain' });
      expect(await contents(other, '')).toEqual({ '/registry/pods/default/a': 'other' });
      expect(await contents(plain, '/elsewhere')).toEqual({ '/elsewhere/registry/pods/default/a': 'other' });
    });

    it('assembles long lists from pages of one revision', async () => {
      const store = await open({ prefix: '/long' });
      for (let i = 0; i < 45; i++) {
        await store.commit(
          Array.from({ length: 100 }, (_, n) => ({
            key: `/k${String(i * 100 + n).padStart(5, '0')}`,
            value: Buffer.from('1'),
          })),
        );
      }
      const { rows, more } = await store.list('/k');
      expect(rows).toHaveLength(4500);
      expect(more).toBe(false);
      expect(rows.map((row) => row.key)).toEqual(rows.map((row) => row.key).sort());
      const most = await store.list('/k', { limit: 4200 });
      expect(most.rows).toHaveLength(4200);
      expect(most.more).toBe(true);
    });

    it('discards history by age, and hides the compaction key', async () => {
      const store = await open({ historyMilliseconds: 100 });
      const watch = watching(store, await store.revision());
      const first = await put(store, '/aged', '1');
      await put(store, '/aged', '2');
      await expect
        .poll(() => store.list('/aged', { revision: first }).catch((error) => error), { timeout: 30_000 })
        .toBeInstanceOf(StoreCompacted);
      expect(Object.keys(await contents(store, ''))).not.toContain('quarterdeck/compaction');
      expect(watch.changes.map((change) => change.key)).toEqual(['/aged', '/aged']);
    });

    it('uses an endpoint that answers', async () => {
      const store = await open({ endpoints: ['http://127.0.0.1:1', etcd.endpoint], timeoutMilliseconds: 3000 });
      await put(store, '/endpoint', '1');
      expect((await store.get('/endpoint'))?.value.toString()).toBe('1');
    });

    it('fails in time when no endpoint answers', async () => {
      const nobody = open({ endpoints: ['http://127.0.0.1:1'], timeoutMilliseconds: 200 });
      await expect(nobody).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(open({ endpoints: [] })).rejects.toThrow('needs at least one endpoint');
      await expect(open({ endpoints: ['ftp://127.0.0.1'] })).rejects.toThrow('not an http or https URL');
    });
  });
});

describe.skipIf(missing)('an etcd that fails', () => {
  it('is killed and restarted: requests fail in time, watches resume without a gap', async () => {
    const etcd = await TestEtcd.start();
    const options = { endpoints: [etcd.endpoint], clock: systemClock, timeoutMilliseconds: 500 };
    const store = await EtcdStore.open(options);
    const start = await store.revision();
    const watch = watching(store, start);
    const revisions: number[] = [];
    for (let i = 0; i < 20; i++) revisions.push(await put(store, `/k${i % 5}`, `${i}`));
    await watch.through(revisions.at(-1) as number);
    for (let round = 0; round < 3; round++) {
      await etcd.kill();
      await expect(put(store, '/gone', '1')).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(store.get('/gone')).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(store.list('/')).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(store.revision()).rejects.toBeInstanceOf(StoreUnavailable);
      await etcd.start();
      const back = async () => put(store, '/back', String(round)).catch(() => 0);
      let acknowledged = 0;
      const tryAgain = async () => {
        acknowledged = await back();
        return acknowledged;
      };
      await expect.poll(tryAgain).toBeGreaterThan(0);
      revisions.push(acknowledged);
    }
    await watch.through(revisions.at(-1) as number);
    expect(watch.isClosed).toBe(false);
    // The watch delivered the actual changes, each once and in order.
    const replay = watching(store, start);
    await replay.through(revisions.at(-1) as number);
    expect(watch.changes.map((change) => change.revision)).toEqual(replay.changes.map((change) => change.revision));
    const told = new Set(watch.changes.map((change) => change.revision));
    expect(revisions.every((revision) => told.has(revision))).toBe(true);
    await store.close();
    await etcd.remove();
  });

  it('is lost permanently: the store can still be closed', async () => {
    const etcd = await TestEtcd.start();
    const store = await EtcdStore.open({ endpoints: [etcd.endpoint], clock: systemClock, timeoutMilliseconds: 300 });
    const watch = watching(store, await store.revision());
    await watch.through(await put(store, '/a', '1'));
    await etcd.remove();
    const commit = put(store, '/a', '2').catch((error) => error);
    const late = watching(store, 1);
    late.stop();
    await store.close();
    expect(await commit).toBeInstanceOf(StoreUnavailable);
    expect(await watch.closed).toBeUndefined();
  });

  it('does not answer: a commit fails in time', async () => {
    const etcd = await TestEtcd.start();
    const store = await EtcdStore.open({ endpoints: [etcd.endpoint], clock: systemClock, timeoutMilliseconds: 300 });
    await put(store, '/a', '1');
    await etcd.pause();
    await expect(put(store, '/a', '2')).rejects.toThrow('etcd did not answer within 300 ms');
    etcd.resume();
    await expect.poll(() => store.get('/a').catch(() => undefined), { timeout: 10_000 }).toBeDefined();
    await store.close();
    await etcd.remove();
  });

  it('stops answering and is started again: reads go on, and the next reads do not wait any longer for it', async () => {
    const etcd = await TestEtcd.start();
    const timeoutMilliseconds = 2_000;
    const store = await EtcdStore.open({ endpoints: [etcd.endpoint], clock: systemClock, timeoutMilliseconds });
    const revision = await put(store, '/a', '1');
    await etcd.pause();
    const startedAt = performance.now();
    const late = await Promise.allSettled([store.revision(), store.revision()]);
    expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(performance.now() - startedAt).toBeLessThan(1.5 * timeoutMilliseconds);
    etcd.resume();
    await expect.poll(() => store.revision().catch(() => 0), { timeout: 10_000 }).toBe(revision);

    await etcd.pause();
    const [reading, writing] = [store.get('/a'), put(store, '/a', '2').catch((error) => error)];
    await etcd.kill();
    await etcd.start();
    expect((await reading)?.value.toString()).toBe('1');
    expect(await writing).toBeInstanceOf(StoreUnavailable);
    await store.close();
    await etcd.remove();
  });

  it('cannot be reached for a while: a watch resumes, or ends because its revision was compacted', async () => {
    const etcd = await TestEtcd.start();
    const wire = await Wire.to(etcd.endpoint);
    const options = { clock: systemClock, timeoutMilliseconds: 1000 };
    const store = await EtcdStore.open({ ...options, endpoints: [wire.endpoint] });
    const other = await EtcdStore.open({ ...options, endpoints: [etcd.endpoint] });
    const watch = watching(store, await store.revision());
    await watch.through(await put(other, '/a', '1'));
    wire.cut();
    await put(other, '/a', '2');
    const last = await put(other, '/a', '3');
    wire.mend();
    await watch.through(last);
    expect(watch.changes.map((change) => String(change.value)).join('')).toBe('123');

    wire.cut();
    await put(other, '/a', '4');
    const oldest = await put(other, '/a', '5');
    await other.compact(oldest);
    wire.mend();
    expect(await watch.closed).toMatchObject({ name: 'StoreCompacted', oldest });
    expect(await watching(store, oldest - 1).closed).toMatchObject({ name: 'StoreCompacted', oldest });
    await other.close();
    await store.close();
    wire.close();
    await etcd.remove();
  });

  it('fails at one of several endpoints: the others are used', async () => {
    const etcd = await TestEtcd.start();
    const wires = [await Wire.to(etcd.endpoint), await Wire.to(etcd.endpoint)] as const;
    const endpoints = wires.map((wire) => wire.endpoint);
    const store = await EtcdStore.open({ endpoints, clock: systemClock, timeoutMilliseconds: 3000 });
    const start = await store.revision();
    const watch = watching(store, start);
    const revisions: number[] = [];
    for (const wire of [...wires, ...wires]) {
      for (let i = 0; i < 5; i++) revisions.push(await put(store, '/a', `${i}`));
      wire.cut();
      // A request in flight may fail; the next attempt uses another endpoint.
      revisions.push(await put(store, '/a', 'x').catch(() => put(store, '/a', 'x')));
      wire.mend();
    }
    await watch.through(revisions.at(-1) as number);
    const told = watch.changes.map((change) => change.revision);
    expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
    expect(revisions.every((revision) => told.includes(revision))).toBe(true);
    await store.close();
    for (const wire of wires) wire.close();
    await etcd.remove();
  });

  it('loses its leader: a write that this one had fails long before its timeout, and the next one succeeds', async () => {
    const members = await TestEtcd.cluster(3);
    const { leader, others } = await byLeadership(members);
    const store = await EtcdStore.open({
      endpoints: [others[0]!.endpoint],
      clock: systemClock,
      timeoutMilliseconds: 60_000,
    });
    await put(store, '/a', '1');
    await leader.pause();
    // etcd itself reports after 5.4 s that a leader may have had it.
    await expect(put(store, '/a', '2')).rejects.toThrow('lost a request when another member became its leader');
    expect(await put(store, '/a', '3')).toBeGreaterThan(0);
    leader.resume();
    await store.close();
    for (const member of members) await member.remove();
  });

  it('is out of space: writes fail, reads still work', async () => {
    const etcd = await TestEtcd.start({ flags: [`--quota-backend-bytes=${2 ** 20}`] });
    const store = await EtcdStore.open({ endpoints: [etcd.endpoint], clock: systemClock });
    const fill = async () => {
      for (let i = 0; ; i++) await put(store, `/k${i}`, 'x'.repeat(100_000));
    };
    await expect(fill()).rejects.toBeInstanceOf(StoreFull);
    expect((await store.get('/k0'))?.value).toHaveLength(100_000);
    await store.close();
    await etcd.remove();
  });

  it('requires certificates, and receives them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'etcd-tls-'));
    const file = (name: string) => join(directory, name);
    // A single certificate is its own authority, and serves both sides.
    const subject = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const keys = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('key')];
    execFileSync('openssl', ['req', '-x509', '-out', file('cert'), ...subject, ...keys], { stdio: 'ignore' });
    const [cert, key] = [await readFile(file('cert')), await readFile(file('key'), 'utf8')];
    const etcd = await TestEtcd.start({
      flags: [
        `--cert-file=${file('cert')}`,
        `--key-file=${file('key')}`,
        `--trusted-ca-file=${file('cert')}`,
        '--client-cert-auth',
      ],
    });
    const options = { endpoints: [etcd.endpoint], clock: systemClock };
    const store = await EtcdStore.open({ ...options, tls: { ca: cert, cert, key } });
    const watch = watching(store, await store.revision());
    await watch.through(await put(store, '/a', '1'));
    await store.close();
    const stranger = EtcdStore.open({ ...options, timeoutMilliseconds: 500, tls: { ca: cert } });
    await expect(stranger).rejects.toBeInstanceOf(StoreUnavailable);
    await etcd.remove();
    await rm(directory, { recursive: true });
  });
});

/** Asks each member whether it leads the others. */
async function byLeadership(members: readonly TestEtcd[]): Promise<{ leader: TestEtcd; others: readonly TestEtcd[] }> {
  const leads = await Promise.all(
    members.map(async ({ endpoint }) => {
      const client = new MembersClient({ endpoints: [endpoint], tls: {}, clock: systemClock });
      const { id, leader } = await client.status();
      client.close();
      return id === leader;
    }),
  );
  return { leader: members[leads.indexOf(true)]!, others: members.filter((_, index) => !leads[index]) };
}
