import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { advertisedAddress, serviceAddress, servingNames } from './addresses.ts';

const RANGE = '10.96.0.0/16';

test('the service kubernetes has the first address of the range', () => {
  expect(serviceAddress(RANGE)).toBe('10.96.0.1');
  expect(serviceAddress('10.0.0.248/29')).toBe('10.0.0.249');
});

test('the certificate names the bound address, the loopback ones and the service', () => {
  const names = servingNames('192.0.2.7', RANGE);
  expect(names).toEqual(
    expect.arrayContaining(['192.0.2.7', 'localhost', '127.0.0.1', '::1', '10.96.0.1', 'kubernetes.default.svc']),
  );
  expect(new Set(names).size).toBe(names.length);
});

test('a server on all addresses has each of them in its certificate', () => {
  expect(servingNames('0.0.0.0', RANGE)).not.toContain('0.0.0.0');
});

test.each(['127.0.0.1', '::1', '0.0.0.0', '::', '127.3.0.1'])('nobody is told to come to %s', (address) => {
  const advertised = advertisedAddress(address, RANGE);
  expect(isIP(advertised)).not.toBe(0);
  expect(advertised).not.toMatch(/^(127\.|::1$|0\.0\.0\.0$|::$)/);
});

test('an address of this machine that others reach is advertised as it is', () => {
  expect(advertisedAddress('192.0.2.7', RANGE)).toBe('192.0.2.7');
});
