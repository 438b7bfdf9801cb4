import { expect, test } from 'vitest';
import { endpointsFor, isFurtherSlice, slicesFor } from './endpoints.ts';

const a = { address: '192.0.2.1', port: 6443 };
const b = { address: '192.0.2.2', port: 6443 };
const sameHost = { address: '192.0.2.1', port: 6444 };
const six = { address: '2001:db8::1', port: 6443 };

test('servers on one port share a subset and a slice, in the same order for every server', () => {
  for (const servers of [
    [a, b],
    [b, a, a],
  ]) {
    expect(endpointsFor(servers).body).toMatchObject({
      metadata: { name: 'kubernetes' },
      subsets: [{ addresses: [{ ip: a.address }, { ip: b.address }], ports: [{ name: 'https', port: 6443 }] }],
    });
    expect(slicesFor(servers).map(({ body }) => body)).toMatchObject([
      { metadata: { name: 'kubernetes' }, endpoints: [{ addresses: [a.address] }, { addresses: [b.address] }] },
    ]);
  }
});

test('another port or address family has a subset and a slice of its own', () => {
  expect(endpointsFor([a, sameHost]).body.subsets).toEqual([
    { addresses: [{ ip: a.address }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
    { addresses: [{ ip: a.address }], ports: [{ name: 'https', port: 6444, protocol: 'TCP' }] },
  ]);
  const slices = slicesFor([six, sameHost, a]).map(({ body }) => body);
  expect(slices.map(({ metadata, addressType }) => [metadata.name, addressType])).toEqual([
    ['kubernetes', 'IPv4'],
    ['kubernetes-ipv4-6444', 'IPv4'],
    ['kubernetes-ipv6-6443', 'IPv6'],
  ]);
  expect(slices.map(({ metadata }) => isFurtherSlice(metadata.labels))).toEqual([false, true, true]);
});
