import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { EndpointSlice } from './endpoint-slice.ts';

const slice = (parts: object) => ({ metadata: { name: 's', namespace: 'n' }, addressType: 'IPv4', ...parts });
const at = (...addresses: string[]) => ({ addresses });
const of = (addressType: string, ...addresses: string[]) => ({ addressType, endpoints: [at(...addresses)] });
const UNSUPPORTED_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

it('an EndpointSlice always has its lists', () => {
  expect(create(EndpointSlice, slice({})).object).toEqual(slice({ endpoints: [], ports: [] }));
});

it('an EndpointSlice defaults to unnamed TCP ports, and leaves conditions unset', () => {
  const { object, errors } = create(EndpointSlice, slice({ ports: [{ port: 80 }], endpoints: [at('10.0.0.1')] }));
  expect(errors).toEqual([]);
  expect(object.ports).toEqual([{ name: '', port: 80, protocol: 'TCP' }]);
  expect(object.endpoints).toEqual([{ addresses: ['10.0.0.1'], conditions: {} }]);
});

it('an EndpointSlice drops fields of older versions', () => {
  const endpoint = { ...at('10.0.0.1'), deprecatedTopology: { 'kubernetes.io/hostname': 'node' } };
  const { object: old } = create(EndpointSlice, slice({ endpoints: [endpoint] }));
  expect(old.endpoints[0]).not.toHaveProperty('deprecatedTopology');
  const { object } = update(EndpointSlice, old, slice({ endpoints: [endpoint] }));
  expect(object.endpoints[0]).not.toHaveProperty('deprecatedTopology');
});

it.each<[string, object, string[]]>([
  ['the other family', of('IPv6', '2001:db8::1'), []],
  ['names', of('FQDN', 'a.example.com', 'b.example.com.'), []],
  ['no type', { addressType: undefined }, ['addressType: Required value']],
  [
    'another type',
    { addressType: 'MAC' },
    ['addressType: Unsupported value: "MAC": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  ['nowhere', { endpoints: [{}] }, ['endpoints[0].addresses: Required value: must contain at least 1 address']],
  [
    'too many addresses',
    { endpoints: [at(...Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`))] },
    ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  ],
  ['no address', of('IPv4', 'x'), [`endpoints[0].addresses[0]: Invalid value: "x": ${UNSUPPORTED_IP}`]],
  [
    'an address of the other family',
    of('IPv4', '2001:db8::1'),
    ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
  ],
  [
    'an address in another form',
    of('IPv6', '2001:DB8::1'),
    ['endpoints[0].addresses[0]: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
  ],
  [
    'an address of this machine',
    of('IPv4', '127.0.0.1'),
    ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    'a short name',
    of('FQDN', 'web', ''),
    [
      'endpoints[0].addresses[0]: Invalid value: "web": should be a domain with at least two segments separated by dots',
      'endpoints[0].addresses[1]: Required value',
    ],
  ],
  [
    'empty names',
    { endpoints: [{ ...at('10.0.0.1'), nodeName: '', hostname: '' }] },
    [
      expect.stringContaining('endpoints[0].nodeName: Invalid value: "": a lowercase RFC 1123 subdomain'),
      expect.stringContaining('endpoints[0].hostname: Invalid value: "": a lowercase RFC 1123 label'),
    ],
  ],
  [
    'the same hint twice',
    { endpoints: [{ ...at('10.0.0.1'), hints: { forZones: [{ name: 'a' }, { name: 'a' }], forNodes: [{}] } }] },
    [
      'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
      expect.stringContaining('endpoints[0].hints.forNodes[0].name: Invalid value: "": a lowercase RFC 1123'),
    ],
  ],
  [
    'two ports of one name',
    { ports: [{ port: 80 }, { port: 81, appProtocol: 'a b' }] },
    [
      expect.stringContaining('ports[1].appProtocol: Invalid value: "a b": name part must consist of'),
      'ports[1].name: Duplicate value: ""',
    ],
  ],
  [
    'too many endpoints',
    { endpoints: Array.from({ length: 1001 }, () => at('10.0.0.1')) },
    ['endpoints: Too many: 1001: must have at most 1000 items'],
  ],
])('an EndpointSlice with %s is validated', (_what, parts, errors) => {
  expect(create(EndpointSlice, slice(parts)).errors).toEqual(errors);
});

it('an EndpointSlice has an immutable address type', () => {
  const { object: old } = create(EndpointSlice, slice({}));
  expect(update(EndpointSlice, old, slice({ addressType: 'IPv6' })).errors).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ]);
});
