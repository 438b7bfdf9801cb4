import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { coredns } from '../../src/federation/dns/providers/coredns/driver.ts';
import { Etcd } from '../../src/federation/dns/providers/coredns/etcd.ts';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { describeDnsProvider } from '../support/federation/dns-contract.ts';

const ZONE = 'example.com.';
const missing = etcdMissing();
if (missing) console.log(missing);
const { signal } = new AbortController();
const open = (config: string | undefined) => coredns.open({ config, now: () => 0, random: systemRandom });

describe.skipIf(missing)('coredns with etcd', () => {
  let etcd: TestEtcd;
  const config = () => `[Global]\netcd-endpoints = http://127.0.0.1:1, ${etcd.endpoint}\nzones = ${ZONE}`;
  const keys = () =>
    new Etcd({ endpoints: [etcd.endpoint], caFile: undefined, certFile: undefined, keyFile: undefined });
  beforeAll(async () => {
    etcd = await TestEtcd.start();
  });
  afterAll(() => etcd?.remove());

  describeDnsProvider('the provider coredns', () => ({ provider: open(config()), zone: ZONE }));

  it('writes the keys and values that the etcd plugin of CoreDNS reads', async () => {
    const zone = (await open(config()).zone(ZONE, signal))!;
    const web = {
      name: 'web.shop.example.com.',
      type: 'A',
      ttlSeconds: 180,
      values: ['192.0.2.1', '192.0.2.2'],
    } as const;
    const alias = { name: 'a.example.com.', type: 'CNAME', ttlSeconds: 60, values: [web.name] } as const;
    await zone.change({ remove: [], ensure: [web, alias] }, signal);
    const found = await keys().list('/skydns/', signal);
    expect(found.map(({ key, value }) => [key.replace(/[0-9a-f]{12}$/, '…'), JSON.parse(value)])).toEqual([
      ['/skydns/com/example/a/qd-…', { host: 'web.shop.example.com', ttl: 60 }],
      ['/skydns/com/example/shop/web/qd-…', { host: expect.stringMatching(/^192\.0\.2\.[12]$/), ttl: 180 }],
      ['/skydns/com/example/shop/web/qd-…', { host: expect.stringMatching(/^192\.0\.2\.[12]$/), ttl: 180 }],
    ]);
    await zone.change({ remove: [web, alias], ensure: [] }, signal);
    expect(await keys().list('/skydns/', signal)).toEqual([]);
  });

  it('leaves keys of other names and replaces those of its own', async () => {
    const own = { host: '192.0.2.7' };
    const put = new Map([
      ['/skydns/com/example/www', JSON.stringify(own)],
      ['/skydns/com/example/shop/web', JSON.stringify(own)],
      ['/skydns/com/example/shop/web/x1/deeper', JSON.stringify(own)],
      ['/skydns/com/example/text', JSON.stringify({ text: 'no address' })],
      ['/skydns/com/example/broken', '{'],
    ]);
    await keys().change({ put, remove: [] }, signal);
    const zone = (await open(config()).zone(ZONE, signal))!;
    const web = { name: 'web.shop.example.com.', type: 'A', ttlSeconds: 180, values: ['192.0.2.1'] } as const;
    await zone.change({ remove: [], ensure: [web] }, signal);
    expect((await zone.list(signal)).map(({ name, values }) => [name, ...values])).toEqual([
      ['web.shop.example.com.', '192.0.2.1'],
      ['deeper.x1.web.shop.example.com.', '192.0.2.7'],
      ['www.example.com.', '192.0.2.7'],
    ]);
    await keys().change({ put: new Map(), remove: [...put.keys()] }, signal);
    await zone.change({ remove: [web], ensure: [] }, signal);
  });

  it('more changes than a transaction of etcd takes, and more keys than a page has', async () => {
    const zone = (await open(config()).zone(ZONE, signal))!;
    const records = Array.from({ length: 1_200 }, (_, index) => ({
      name: `web-${index}.example.com.`,
      ...{ type: 'AAAA' as const, ttlSeconds: 180, values: [`2001:db8::${(index + 1).toString(16)}`] },
    }));
    await zone.change({ remove: [], ensure: records }, signal);
    expect(await zone.list(signal)).toHaveLength(1_200);
    await zone.change({ remove: records, ensure: [] }, signal);
    expect(await zone.list(signal)).toEqual([]);
  });
});

it('endpoints that do not answer are all named', async () => {
  const zone = (await open('[Global]\netcd-endpoints = http://127.0.0.1:1,http://localhost:1\nzones = a.').zone(
    'a.',
    signal,
  ))!;
  await expect(zone.list(signal)).rejects.toMatchObject({
    ...{ name: 'DnsError', reason: 'Unavailable', message: expect.stringMatching(/127\.0\.0\.1:1.*localhost:1/) },
  });
});

it.each([
  [undefined, 'the key "zones" of the section [Global] is required'],
  ['[Global]\nzones = ..', '".." is not a domain name'],
  ['[Global]\nzones = a.\netcd-endpoints = etcd:2379', '"etcd:2379" is not an address like http://etcd:2379'],
  ['[Global]\nzones = a.\nendpoints = x', 'the key "endpoints" is unknown'],
])('%j is rejected', (config, message) => {
  expect(() => open(config)).toThrow(message);
});

it.each([undefined, '[Global]\netcd-endpoints = http://etcd:2379'])(
  'with %j, which names no zones, CoreDNS serves the zone that will be asked for',
  async (config) => {
    const provider = coredns.open({ config, zone: 'a.test.', now: () => 0, random: systemRandom });
    expect(await provider.zone('a.test.', signal)).toMatchObject({ name: 'a.test.' });
    expect(await provider.zone('b.test.', signal)).toBeUndefined();
  },
);

it('a zone that CoreDNS does not serve is rejected', () => {
  const options = { config: '[Global]\nzones = a.test', now: () => 0, random: systemRandom };
  expect(() => coredns.open({ ...options, zone: 'b.test.' })).toThrow('the zone b.test. is not among them (a.test.)');
  coredns.open({ ...options, zone: 'a.test.' });
});
