import { expect, it } from 'vitest';
import { mergedEndpoints } from './dns-service.ts';

const own = { address: '192.0.2.2', port: 53, metricsPort: 9153 };
const slice = (port: number, ...addresses: string[]) =>
  ({ ports: [{ port }], endpoints: addresses.map((address) => ({ addresses: [address] })) }) as never;
const living =
  (...addresses: string[]) =>
  (address: string) =>
    addresses.includes(address);

it('the endpoints of the DNS service are this server alone at first', () => {
  expect(mergedEndpoints(undefined, own, living())).toEqual({
    addresses: ['192.0.2.2'],
    port: 53,
    metricsPort: 9153,
  });
});

it('the endpoints of the DNS service keep other servers that live, and drop those that do not', () => {
  const old = slice(53, '192.0.2.9', '192.0.2.2', '192.0.2.1');
  expect(mergedEndpoints(old, own, living('192.0.2.1')).addresses).toEqual(['192.0.2.1', '192.0.2.2']);
});

it('the endpoints of the DNS service have one port: a server with another one is left out until the others are gone', () => {
  const old = slice(5353, '192.0.2.1');
  expect(mergedEndpoints(old, own, living('192.0.2.1'))).toEqual({
    addresses: ['192.0.2.1'],
    port: 5353,
    metricsPort: 9153,
  });
  expect(mergedEndpoints(old, own, living())).toEqual({ addresses: ['192.0.2.2'], port: 53, metricsPort: 9153 });
});

it('the endpoints of the DNS service leave this server out while it does not listen', () => {
  const old = slice(53, '192.0.2.1', '192.0.2.2');
  const silent = { ...own, isListening: false };
  expect(mergedEndpoints(old, silent, living('192.0.2.1')).addresses).toEqual(['192.0.2.1']);
  expect(mergedEndpoints(old, silent, living())).toEqual({ addresses: [], port: 53, metricsPort: 9153 });
});

it('the endpoints of the DNS service are of one family', () => {
  const old = slice(53, '2001:db8::1');
  expect(mergedEndpoints(old, own, () => true).addresses).toEqual(['192.0.2.2']);
});
