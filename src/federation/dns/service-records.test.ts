import { describe, expect, it } from 'vitest';
import { DnsError, type RecordSet } from './provider.ts';
import { RECORD_TTL_SECONDS, recordChanges, type Shard, serviceRecords } from './service-records.ts';

const NAME = { service: 'web', namespace: 'shop', federation: 'fed', domain: 'example.com.' };
const GLOBAL = 'web.shop.fed.svc.example.com.';

const shard = (region: string | undefined, zone: string | undefined, addresses: string[], healthy = true): Shard => ({
  ...{ region, zones: zone === undefined ? [] : [zone], addresses, healthy },
});

/** `name type values`, one line a record set. */
const lines = (records: readonly RecordSet[]) =>
  records.map(({ name, type, values }) => `${name} ${type} ${values.join(',')}`);

describe('records of a federated service', () => {
  it('are per zone, per region and global', () => {
    const shards = [shard('r1', 'a', ['192.0.2.1']), shard('r1', 'b', ['192.0.2.2']), shard('r2', 'c', ['192.0.2.3'])];
    expect(lines(serviceRecords(NAME, shards))).toEqual([
      'web.shop.fed.svc.a.r1.example.com. A 192.0.2.1',
      'web.shop.fed.svc.b.r1.example.com. A 192.0.2.2',
      'web.shop.fed.svc.c.r2.example.com. A 192.0.2.3',
      `${GLOBAL} A 192.0.2.1,192.0.2.2,192.0.2.3`,
      'web.shop.fed.svc.r1.example.com. A 192.0.2.1,192.0.2.2',
      'web.shop.fed.svc.r2.example.com. A 192.0.2.3',
    ]);
  });

  it('fall back from a zone to its region, and from a region to the global name', () => {
    const shards = [
      ...[shard('r1', 'a', ['192.0.2.1'], false), shard('r1', 'b', ['192.0.2.2'])],
      shard('r2', 'c', [], true),
    ];
    expect(lines(serviceRecords(NAME, shards))).toEqual([
      'web.shop.fed.svc.a.r1.example.com. CNAME web.shop.fed.svc.r1.example.com.',
      'web.shop.fed.svc.b.r1.example.com. A 192.0.2.2',
      'web.shop.fed.svc.c.r2.example.com. CNAME web.shop.fed.svc.r2.example.com.',
      `${GLOBAL} A 192.0.2.2`,
      'web.shop.fed.svc.r1.example.com. A 192.0.2.2',
      `web.shop.fed.svc.r2.example.com. CNAME ${GLOBAL}`,
    ]);
  });

  it('are none when no shard is healthy', () => {
    expect(serviceRecords(NAME, [shard('r1', 'a', ['192.0.2.1'], false)])).toEqual([]);
    expect(serviceRecords(NAME, [])).toEqual([]);
  });

  it('separate IPv4 and IPv6, without duplicates', () => {
    const shards = [
      shard(undefined, undefined, ['192.0.2.9', '2001:db8::1']),
      shard(undefined, undefined, ['192.0.2.9']),
    ];
    expect(serviceRecords(NAME, shards)).toEqual([
      { name: GLOBAL, type: 'A', ttlSeconds: RECORD_TTL_SECONDS, values: ['192.0.2.9'] },
      { name: GLOBAL, type: 'AAAA', ttlSeconds: RECORD_TTL_SECONDS, values: ['2001:db8::1'] },
    ]);
  });
});

describe('changes of records', () => {
  const record = (name: string, type: 'A' | 'CNAME', ...values: string[]): RecordSet => ({
    ...{ name, type, ttlSeconds: RECORD_TTL_SECONDS, values },
  });

  it('touch only what differs, and only names of the service', () => {
    const old = 'web.shop.fed.svc.z.gone.example.com.';
    const others = ['web2.shop.fed.svc.example.com.', 'www.example.com.'].map((name) => record(name, 'A', '192.0.2.7'));
    const kept = record(GLOBAL, 'A', '192.0.2.2', '192.0.2.1');
    const desired = [
      record(GLOBAL, 'A', '192.0.2.1', '192.0.2.2'),
      record('web.shop.fed.svc.r1.example.com.', 'CNAME', GLOBAL),
    ];
    expect(recordChanges(NAME, [...others, kept, record(old, 'A', '192.0.2.3')], desired)).toEqual({
      remove: [{ name: old, type: 'A' }],
      ensure: [desired[1]],
    });
  });

  it('replace addresses by an alias', () => {
    const regional = 'web.shop.fed.svc.r1.example.com.';
    const changes = recordChanges(NAME, [record(regional, 'A', '192.0.2.1')], [record(regional, 'CNAME', GLOBAL)]);
    expect(changes.remove).toEqual([{ name: regional, type: 'A' }]);
    expect(changes.ensure).toEqual([record(regional, 'CNAME', GLOBAL)]);
  });
});

it('an error of a provider says whether repeating helps', () => {
  expect(new DnsError('Unavailable', 'no answer', { cause: 'timeout' })).toMatchObject({
    ...{ reason: 'Unavailable', message: 'no answer', cause: 'timeout' },
  });
});
