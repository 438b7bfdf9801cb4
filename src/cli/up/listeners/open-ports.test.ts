import { expect, test } from 'vitest';
import { exposedLines } from './open-ports.ts';

test('lists what listens beyond loopback addresses', () => {
  const ports = [
    { address: '127.0.0.1', port: 6443, what: 'API' },
    { address: '192.0.2.2', port: 6443, what: 'API, for pods' },
    { address: '::1', port: 80, what: 'Ingress, HTTP' },
    { address: '2001:db8::1', port: 53, what: 'DNS' },
    { address: '0.0.0.0', port: 443, what: 'Ingress, HTTPS' },
  ];
  expect(exposedLines(ports)).toEqual([
    '192.0.2.2:6443    API, for pods',
    '[2001:db8::1]:53  DNS',
    '0.0.0.0:443       Ingress, HTTPS',
  ]);
  expect(exposedLines(ports.slice(0, 1))).toEqual([]);
});
