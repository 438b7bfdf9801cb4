import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { addressForPods, advertisedAddress, reachableAddress, serviceAddress, servingNames } from './addresses.ts';

const RANGE = '10.96.0.0/16';
const settings = (bindAddress: string, clusterDomain = 'cluster.local') => ({
  ...{ bindAddress, serviceClusterIpRange: RANGE, clusterDomain, tlsSan: [], forPods: false },
});

test('the service kubernetes has the first address of the range', () => {
  expect(serviceAddress(RANGE)).toBe('10.96.0.1');
  expect(serviceAddress('10.0.0.248/29')).toBe('10.0.0.249');
});

test('the DNS service has the tenth address, if the range has so many', () => {
  expect(serviceAddress(RANGE, 10)).toBe('10.96.0.10');
  expect(serviceAddress('10.0.0.248/29', 10)).toBeUndefined();
});

test('the certificate names the server in the domain of the cluster', () => {
  expect(servingNames(settings('192.0.2.7', 'example.org'))).toContain('kubernetes.default.svc.example.org');
});

test('the certificate names the bound address, the loopback ones and the service', () => {
  const names = servingNames(settings('192.0.2.7'));
  expect(names).toEqual(
    expect.arrayContaining(['192.0.2.7', 'localhost', '127.0.0.1', '::1', '10.96.0.1', 'kubernetes.default.svc']),
  );
  expect(new Set(names).size).toBe(names.length);
});

test('the certificate has the names that were asked for', () => {
  const names = servingNames({ ...settings('192.0.2.7'), tlsSan: ['api.example.org', '192.0.2.9', 'localhost'] });
  expect(names).toEqual(expect.arrayContaining(['api.example.org', '192.0.2.9']));
  expect(new Set(names).size).toBe(names.length);
});

test('a server on all addresses has each of them in its certificate', () => {
  expect(servingNames(settings('0.0.0.0'))).not.toContain('0.0.0.0');
});

test.each(['127.0.0.1', '::1', '0.0.0.0', '::', '127.3.0.1'])('nobody is told to come to %s', (address) => {
  const advertised = advertisedAddress(address, RANGE);
  expect(isIP(advertised)).not.toBe(0);
  expect(advertised).not.toMatch(/^(127\.|::1$|0\.0\.0\.0$|::$)/);
});

test('a server on loopback that also listens for pods is reached there by other machines', () => {
  expect(reachableAddress('127.0.0.1', RANGE)).toBe('127.0.0.1');
  expect(reachableAddress('127.0.0.1', RANGE, true)).toBe(addressForPods('127.0.0.1') ?? '127.0.0.1');
  expect(reachableAddress('192.0.2.7', RANGE, true)).toBe('192.0.2.7');
});

test('an address of this machine that others reach is advertised as it is', () => {
  expect(advertisedAddress('192.0.2.7', RANGE)).toBe('192.0.2.7');
});
