import { expect, it } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import { Endpoints } from './endpoints.ts';

const endpoints = (...subsets: object[]) => ({ metadata: { name: 'e', namespace: 'n' }, subsets });
const addresses = [{ ip: '10.0.0.1' }];

it('Endpoints speak TCP unless they say otherwise', () => {
  const { object } = create(Endpoints, endpoints({ addresses, ports: [{ port: 80 }] }));
  expect(object.subsets).toEqual([{ addresses, ports: [{ port: 80, protocol: 'TCP' }] }]);
});

it.each<[string, object, ...string[]]>([
  ['addresses alone', { addresses }],
  ['only some that are not ready', { notReadyAddresses: addresses, ports: [{ port: 80 }] }],
  [
    'no addresses',
    { ports: [{ port: 80 }] },
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
  ],
  [
    'an empty address',
    { addresses: [{}] },
    'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address',
  ],
  [
    'an address that leads back',
    { notReadyAddresses: [{ ip: '::1' }] },
    'subsets[0].notReadyAddresses[0].ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ],
  [
    'two ports without names',
    { addresses, ports: [{ port: 80 }, { port: 443, name: 'tls' }] },
    'subsets[0].ports[0].name: Required value',
  ],
  [
    'no port number',
    { addresses, ports: [{}] },
    'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
  ],
  [
    'an unknown protocol',
    { addresses, ports: [{ port: 1, protocol: 'X' }] },
    'subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
])('Endpoints with %s are judged', (_what, subset, ...errors) => {
  expect(create(Endpoints, endpoints(subset)).errors).toEqual(errors);
});

it('Endpoints show the first addresses with their ports, and count the others without writing them out', () => {
  const text = (subsets: object[]) =>
    Endpoints.columns?.find((column) => column.name === 'Endpoints')?.cell({ subsets } as never, undefined as never);
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ip: `10.0.0.${at + 1}` }));
  const ports = (count: number) => Array.from({ length: count }, (_, at) => ({ port: at + 1 }));
  expect(text([{ addresses: many(2), ports: ports(1) }, { addresses: many(1) }])).toBe(
    '10.0.0.1:1,10.0.0.2:1,10.0.0.1',
  );
  expect(text([{ addresses: [{ ip: '::2' }], ports: ports(5) }])).toBe('[::2]:1,[::2]:2,[::2]:3 + 2 more...');
  expect(text([{ notReadyAddresses: many(1), ports: ports(5) }])).toBe('');
  expect(text([{ addresses: many(30_000), ports: ports(30_000) }])).toBe(
    '10.0.0.1:1,10.0.0.2:1,10.0.0.3:1 + 899999997 more...',
  );
});
