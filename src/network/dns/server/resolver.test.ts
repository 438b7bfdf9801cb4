import { beforeEach, describe, expect, it } from 'vitest';
import { DOMAIN, queryBytes, serviceChange, summary } from '../../../../test/support/network/dns.ts';
import { Flag, RecordType, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import { readResponse } from '../../../protocols/dns-message/message.ts';
import { addressRecord, type ResourceRecord } from '../../../protocols/dns-message/record.ts';
import type { Lookup, LookupResult } from '../upstream/forwarder.ts';
import { addressRange } from '../zone/address-ranges.ts';
import { Authority } from '../zone/authority.ts';
import { Zone } from '../zone/zone.ts';
import { DnsCounters } from './metrics.ts';
import { Resolver } from './resolver.ts';

const { NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED, BADVERS } = ResponseCode;
const SOA = 'cluster.local SOA ns.dns.cluster.local';

let zone: Zone;
let authority: Authority | undefined;
let upstream: (lookup: Lookup) => LookupResult;
let resolver: Resolver;

beforeEach(() => {
  zone = new Zone();
  const ranges = ['10.96.0.0/16', '10.244.0.0/16'].map(addressRange);
  const whole = new Authority(zone, { domain: DOMAIN, ranges, serviceAddress: '10.96.0.10' });
  authority = whole;
  upstream = () => 'refused';
  zone.apply(serviceChange('kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443 }] }));
  zone.apply(serviceChange('web', { clusterIP: 'None' }, [{ addresses: ['10.244.0.5'], hostname: 'web-0' }]));
  resolver = new Resolver({
    authority: () => authority,
    isOwnName: (name) => name.endsWith(DOMAIN),
    forwarder: { remembered: () => undefined, lookup: async (lookup) => upstream(lookup) },
    isAllowed: (client) => client !== '192.0.2.1',
    counters: new DnsCounters(),
  });
});

async function ask(name: string, type?: number, options: Parameters<typeof queryBytes>[2] = {}) {
  return summary((await resolver.respond(queryBytes(name, type, options), '10.244.0.9', 'udp'))!);
}

const record = (name: string, address: string): ResourceRecord => ({
  ...addressRecord(name, address)!,
  class: 1,
  ttl: 60,
});
const found = (...answers: ResourceRecord[]): LookupResult => ({
  ...{ code: NOERROR, isAuthentic: false, answers, authorities: [], additionals: [] },
});

describe('names of the cluster', () => {
  it.each([
    'kubernetes.default.svc.cluster.local',
    'kubernetes.svc.cluster.local',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
  ])('%s is the API server', async (name) => {
    expect(await ask(name)).toEqual({ code: NOERROR, answers: [`${name} A 10.96.0.1`] });
  });

  it('has the addresses of SRV targets at hand', async () => {
    expect(await ask('_http._tcp.web.shop.svc.cluster.local', RecordType.SRV)).toEqual({
      code: NOERROR,
      answers: ['_http._tcp.web.shop.svc.cluster.local SRV 0 100 8080 web-0.web.shop.svc.cluster.local'],
      additionals: ['web-0.web.shop.svc.cluster.local A 10.244.0.5'],
    });
  });

  it.each([
    ['a name that does not exist', 'nope.shop.svc.cluster.local', RecordType.A, NXDOMAIN],
    ['a type that a name does not have', 'web.shop.svc.cluster.local', RecordType.AAAA, NOERROR],
    ['a name that has only names below it', 'shop.svc.cluster.local', RecordType.A, NOERROR],
    ['a service of another namespace', 'web.default.svc.cluster.local', RecordType.A, NXDOMAIN],
  ])('says for how long there is not %s', async (_, name, type, code) => {
    expect(await ask(name, type)).toEqual({ code, authorities: [SOA] });
    const [soa] = readResponse((await resolver.respond(queryBytes(name, type), '10.244.0.9', 'udp'))!).authorities;
    expect(soa).toMatchObject({ ttl: 5 });
    expect(soa?.data.readUInt32BE(soa.data.length - 4)).toBe(5);
  });

  it.each([
    ['cluster.local', RecordType.SOA, SOA],
    ['cluster.local', RecordType.NS, 'cluster.local NS ns.dns.cluster.local'],
    ['ns.dns.cluster.local', RecordType.A, 'ns.dns.cluster.local A 10.96.0.10'],
    ['dns-version.cluster.local', RecordType.TXT, 'dns-version.cluster.local TXT 1.1.0'],
    ['1.0.96.10.in-addr.arpa', RecordType.PTR, '1.0.96.10.in-addr.arpa PTR kubernetes.default.svc.cluster.local'],
  ])('%s has records of type %i', async (name, type, line) => {
    expect(await ask(name, type)).toEqual({ code: NOERROR, answers: [line] });
  });

  it('answers for all addresses of its ranges, and for no others', async () => {
    expect(await ask('9.9.96.10.in-addr.arpa', RecordType.PTR)).toEqual({
      code: NXDOMAIN,
      authorities: ['96.10.in-addr.arpa SOA ns.dns.cluster.local'],
    });
    expect(await ask('9.9.97.10.in-addr.arpa', RecordType.PTR)).toEqual({ code: REFUSED });
  });

  it('follows aliases inside, and stops at circles', async () => {
    zone.apply(serviceChange('api', { type: 'ExternalName', externalName: 'kubernetes.default.svc.cluster.local' }));
    expect(await ask('api.shop.svc.cluster.local')).toEqual({
      code: NOERROR,
      answers: [
        'api.shop.svc.cluster.local CNAME kubernetes.default.svc.cluster.local',
        'kubernetes.default.svc.cluster.local A 10.96.0.1',
      ],
    });
    zone.apply(serviceChange('circle', { type: 'ExternalName', externalName: 'circle.shop.svc.cluster.local' }));
    expect(await ask('circle.shop.svc.cluster.local')).toEqual({ code: SERVFAIL });
  });

  it('looks up where aliases lead outside', async () => {
    zone.apply(serviceChange('db', { type: 'ExternalName', externalName: 'db.example.com' }));
    const alias = 'db.shop.svc.cluster.local CNAME db.example.com';
    expect(await ask('db.shop.svc.cluster.local')).toEqual({ code: NOERROR, answers: [alias] });
    upstream = ({ question }) => found(record(question.name, '192.0.2.7'));
    expect(await ask('db.shop.svc.cluster.local')).toEqual({
      code: NOERROR,
      answers: [alias, 'db.example.com A 192.0.2.7'],
    });
    upstream = () => 'refused';
    expect(await ask('db.shop.svc.cluster.local', RecordType.CNAME)).toEqual({ code: NOERROR, answers: [alias] });
  });

  it('starts each answer with another address', async () => {
    const endpoints = ['10.244.0.5', '10.244.0.6', '10.244.0.7'].map((address) => ({ addresses: [address] }));
    zone.apply(serviceChange('web', { clusterIP: 'None' }, endpoints));
    const firsts = new Set<string>();
    for (let i = 0; i < 3; i++) firsts.add((await ask('web.shop.svc.cluster.local')).answers![0]!);
    expect(firsts.size).toBe(3);
  });

  it('are not known before the zone is complete, and nobody else is asked', async () => {
    authority = undefined;
    upstream = () => {
      throw new Error('asked');
    };
    expect(await ask('web.shop.svc.cluster.local')).toEqual({ code: SERVFAIL });
  });
});

it('other names are looked up, and refused where there is no upstream server', async () => {
  expect(await ask('example.com')).toEqual({ code: REFUSED });
  upstream = ({ question }) => found(record(question.name, '192.0.2.7'));
  expect(await ask('example.com')).toEqual({ code: NOERROR, answers: ['example.com A 192.0.2.7'] });
  upstream = () => 'busy';
  expect(await ask('example.com')).toEqual({ code: SERVFAIL });
});

describe('a response', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ addresses: [`10.244.1.${index}`] }));

  it('fits into what the client takes, and TCP has all of it', async () => {
    zone.apply(serviceChange('web', { clusterIP: 'None' }, many));
    const sizes = [undefined, 100, 1_000, 65_535].map((edns) => {
      const query = queryBytes('web.shop.svc.cluster.local', RecordType.A, edns === undefined ? {} : { edns });
      const response = resolver.respond(query, '10.244.0.9', 'udp') as Buffer;
      expect(summary(response).isTruncated).toBe(true);
      return response.length;
    });
    const [plain, small, middle, large] = sizes as [number, number, number, number];
    expect(plain).toBeLessThanOrEqual(512);
    expect(plain).toBeGreaterThan(480);
    expect(small).toBeLessThanOrEqual(512);
    expect(middle).toBeLessThanOrEqual(1_000);
    expect(middle).toBeGreaterThan(960);
    expect(large).toBeLessThanOrEqual(1_232);
    const whole = resolver.respond(queryBytes('web.shop.svc.cluster.local'), '10.244.0.9', 'tcp') as Buffer;
    expect(summary(whole).answers).toHaveLength(100);
    expect(summary(whole).isTruncated).toBeUndefined();
  });

  it('is made of no more records than fit', async () => {
    const hosts = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ addresses: [`10.244.${index >> 8}.${index & 255}`], hostname: `web-${index}` },
    }));
    zone.apply(serviceChange('web', { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] }, hosts));
    const name = '_http._tcp.web.shop.svc.cluster.local';
    const sent = authority!.answer({ name, type: RecordType.SRV }, { turn: 4_999, maxBytes: 1_232 })!;
    expect(sent.answers.length).toBeLessThan(40);
    expect(sent.additionals).toEqual([]);
    expect((await ask(name, RecordType.SRV)).isTruncated).toBe(true);
    const tcp = resolver.respond(queryBytes(name, RecordType.SRV), '10.244.0.9', 'tcp') as Buffer;
    expect(tcp.length).toBeGreaterThan(65_000);
  });

  it('repeats the question in the case of the client', () => {
    const query = queryBytes('kubernetes.default.svc.cluster.local');
    query.write('KuberNetes', 13);
    const response = resolver.respond(query, '10.244.0.9', 'udp') as Buffer;
    expect(response.subarray(13, 23).toString()).toBe('KuberNetes');
    expect(summary(response).answers).toHaveLength(1);
  });

  it.each([
    ['to a client elsewhere', queryBytes('kubernetes'), '192.0.2.1', REFUSED],
    ['of class CHAOS', queryBytes('version.bind', RecordType.TXT, { class: 3 }), '10.244.0.9', REFUSED],
    ['to a zone transfer', queryBytes('cluster.local', 252), '10.244.0.9', REFUSED],
    ['to a notification', queryBytes('cluster.local', RecordType.SOA, { flags: 4 << 11 }), '10.244.0.9', NOTIMP],
  ])('%s is a refusal', (_, query, client, code) => {
    expect(summary(resolver.respond(query, client, 'udp') as Buffer)).toEqual({ code });
  });

  it('names the version of EDNS that is known', () => {
    const query = queryBytes('kubernetes', RecordType.A, { edns: 1_232 });
    query[query.length - 5] = 1;
    expect(summary(resolver.respond(query, '10.244.0.9', 'udp') as Buffer)).toEqual({ code: BADVERS });
  });

  it('to what cannot be read is short, or there is none', () => {
    const broken = queryBytes('kubernetes').subarray(0, 14);
    const response = resolver.respond(broken, '10.244.0.9', 'udp') as Buffer;
    expect(response).toHaveLength(12);
    expect(response.readUInt16BE(2) & 0xf).toBe(FORMERR);
    expect(resolver.respond(Buffer.alloc(5), '10.244.0.9', 'udp')).toBeUndefined();
    const reply = queryBytes('kubernetes', RecordType.A, { flags: Flag.RESPONSE });
    expect(resolver.respond(reply, '10.244.0.9', 'udp')).toBeUndefined();
  });
});
