import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { IPAddress } from './ip-address.ts';

const parentRef = { resource: 'services', namespace: 'n', name: 'web' };
const address = (spec: object) => ({ metadata: { name: '10.0.0.1' }, spec });

it('an IPAddress has the address as its name', () => {
  expect(IPAddress.name?.('10.0.0.1', false)).toEqual([]);
  expect(IPAddress.name?.('2001:db8::1', false)).toEqual([]);
  expect(IPAddress.name?.('2001:DB8::1', false)).toEqual(['must be in canonical form ("2001:db8::1")']);
  expect(IPAddress.name?.('web', false)).toEqual(['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']);
});

it.each<[string, object, string[]]>([
  ['its service', { parentRef }, []],
  ['no owner', {}, ['spec.parentRef: Required value']],
  [
    'half an owner',
    { parentRef: { group: 'Apps', namespace: 'a/b' } },
    [
      expect.stringContaining('spec.parentRef.group: Invalid value: "Apps": a lowercase RFC 1123 subdomain'),
      'spec.parentRef.resource: Required value',
      'spec.parentRef.name: Required value',
      'spec.parentRef.namespace: Invalid value: "a/b": may not contain \'/\'',
    ],
  ],
])('an IPAddress with %s is validated', (_what, spec, errors) => {
  expect(create(IPAddress, address(spec)).errors).toEqual(errors);
});

it('an IPAddress has an immutable parentRef', () => {
  const { object: old } = create(IPAddress, address({ parentRef }));
  expect(update(IPAddress, old, address({ parentRef: { ...parentRef, name: 'db' } })).errors).toEqual([
    'spec.parentRef: Invalid value: {"resource":"services","namespace":"n","name":"db"}: field is immutable',
  ]);
});
