import { describe, expect, it } from 'vitest';
import { DOMAIN, recordLine as line } from '../../../../test/support/network/dns.ts';
import { podRecords, serviceRecords } from './records.ts';

const service = (spec: object) => ({ metadata: { name: 'web', namespace: 'shop' }, spec }) as any;
const slice = (endpoints: object[], fields: object = {}) =>
  ({ addressType: 'IPv4', endpoints, ports: [{ name: 'http', protocol: 'TCP', port: 8080 }], ...fields }) as any;
const lines = (spec: object, slices: any[] = []) => serviceRecords(service(spec), slices, DOMAIN).map(line).sort();

it('a service with an address has addresses, their reverse, and one SRV record for each named port', () => {
  const ports = [
    { name: 'http', protocol: 'TCP', port: 80 },
    { protocol: 'UDP', port: 53 },
  ];
  expect(lines({ type: 'ClusterIP', clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00::7'], ports })).toEqual(
    [
      '7.0.96.10.in-addr.arpa PTR web.shop.svc.cluster.local',
      `${[...'fd000000000000000000000000000007'].reverse().join('.')}.ip6.arpa PTR web.shop.svc.cluster.local`,
      '_http._tcp.web.shop.svc.cluster.local SRV 0 100 80 web.shop.svc.cluster.local',
      'web.shop.svc.cluster.local A 10.96.0.7',
      'web.shop.svc.cluster.local AAAA fd000000000000000000000000000007',
    ].sort(),
  );
});

it('a service with an address has none before it has an address', () => {
  expect(lines({ type: 'ClusterIP', ports: [{ name: 'http', port: 80 }] })).toEqual([]);
});

describe('a headless service', () => {
  const headless = { type: 'ClusterIP', clusterIP: 'None', ports: [{ name: 'http', protocol: 'TCP', port: 80 }] };

  it('has its ready endpoints, by hostname or by address', () => {
    const endpoints = [
      { addresses: ['10.244.0.5'], conditions: { ready: true }, hostname: 'web-0' },
      { addresses: ['10.244.0.6'], conditions: {} },
      { addresses: ['10.244.0.7'], conditions: { ready: false } },
    ];
    expect(lines(headless, [slice(endpoints)])).toEqual([
      '10-244-0-6.web.shop.svc.cluster.local A 10.244.0.6',
      '5.0.244.10.in-addr.arpa PTR web-0.web.shop.svc.cluster.local',
      '6.0.244.10.in-addr.arpa PTR 10-244-0-6.web.shop.svc.cluster.local',
      '_http._tcp.web.shop.svc.cluster.local SRV 0 50 8080 10-244-0-6.web.shop.svc.cluster.local',
      '_http._tcp.web.shop.svc.cluster.local SRV 0 50 8080 web-0.web.shop.svc.cluster.local',
      'web-0.web.shop.svc.cluster.local A 10.244.0.5',
      'web.shop.svc.cluster.local A 10.244.0.5',
      'web.shop.svc.cluster.local A 10.244.0.6',
    ]);
  });

  it('has endpoints that are not ready when it publishes them', () => {
    const endpoints = [{ addresses: ['10.244.0.7'], conditions: { ready: false } }];
    expect(lines(headless, [slice(endpoints)])).toEqual([]);
    expect(lines({ ...headless, publishNotReadyAddresses: true }, [slice(endpoints)])).toContain(
      'web.shop.svc.cluster.local A 10.244.0.7',
    );
  });

  it('has an endpoint once that is in two slices', () => {
    const endpoints = [{ addresses: ['10.244.0.5'], conditions: { ready: true } }];
    expect(lines(headless, [slice(endpoints), slice(endpoints)])).toEqual(lines(headless, [slice(endpoints)]));
  });

  it('has both families of its endpoints', () => {
    const endpoint = { addresses: ['fd00::5'], conditions: { ready: true }, hostname: 'web-0' };
    expect(lines(headless, [slice([endpoint], { addressType: 'IPv6' })])).toContain(
      'web-0.web.shop.svc.cluster.local AAAA fd000000000000000000000000000005',
    );
  });
});

it('a service that stands for a name elsewhere is its alias', () => {
  expect(lines({ type: 'ExternalName', externalName: 'DB.example.com.' })).toEqual([
    'web.shop.svc.cluster.local CNAME db.example.com',
  ]);
  expect(lines({ type: 'ExternalName', externalName: 'a..b' })).toEqual([]);
});

const pod = (status: object) => ({ metadata: { name: 'p', namespace: 'shop' }, status }) as any;

it('a pod is found by its addresses', () => {
  const podIPs = [{ ip: '10.244.0.5' }, { ip: 'fd00::5' }];
  expect(podRecords(pod({ phase: 'Running', podIPs }), DOMAIN).map(line)).toEqual([
    '10-244-0-5.shop.pod.cluster.local A 10.244.0.5',
    'fd00--5.shop.pod.cluster.local AAAA fd000000000000000000000000000005',
  ]);
});

it.each(['Succeeded', 'Failed'])('a pod that has %s is not', (phase) => {
  expect(podRecords(pod({ phase, podIPs: [{ ip: '10.244.0.5' }] }), DOMAIN)).toEqual([]);
});
