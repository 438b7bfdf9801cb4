import { expect, it } from 'vitest';
import { cidrWarnings, ipWarnings } from './addresses.ts';

it.each([
  ['10.0.0.1', []],
  ['2001:db8::1', []],
  ['not an address', []],
  ['010.0.0.1', ['f: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']],
  ['::ffff:10.0.0.1', ['f: non-standard IP address "::ffff:10.0.0.1" is invalid: use "10.0.0.1"']],
  ['2001:DB8::1', ['f: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']],
])('an address: %s', (text, warnings) => {
  expect(ipWarnings('f', text)).toEqual(warnings);
});

it.each([
  ['10.0.0.0/8', []],
  ['2001:db8::/32', []],
  ['none', []],
  [
    '10.1.0.0/8',
    ['f: CIDR value "10.1.0.0/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.0.0/32"?)'],
  ],
  ['010.0.0.0/8', ['f: non-standard CIDR value "010.0.0.0/8" is invalid: use "10.0.0.0/8"']],
  ['10.0.0.0/08', ['f: non-standard CIDR value "10.0.0.0/08" is invalid: use "10.0.0.0/8"']],
  ['::ffff:10.0.0.0/104', ['f: non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"']],
  ['2001:DB8::/32', ['f: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")']],
])('a range: %s', (text, warnings) => {
  expect(cidrWarnings('f', text)).toEqual(warnings);
});
