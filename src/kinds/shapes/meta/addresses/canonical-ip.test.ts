import { expect, it } from 'vitest';
import { canonicalCidrProblems, canonicalIpProblems, formatIp } from './canonical-ip.ts';
import { parseIp } from './ip-address.ts';

it.each([
  ['10.0.0.1', '10.0.0.1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
  ['2001:0:0:1:0:0:1:1', '2001::1:0:0:1:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['fe80:0:0:0:0:0:0:0', 'fe80::'],
])('an address is written: %s as %s', (text, canonical) => {
  expect(formatIp(parseIp(text)!)).toBe(canonical);
  expect(canonicalIpProblems(canonical)).toEqual([]);
});

it.each([
  ['10.0.0', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
  ['010.0.0.1', ['must not have leading 0s']],
  ['::ffff:1.2.3.4', ['must not be an IPv4-mapped IPv6 address']],
  ['2001:DB8::1', ['must be in canonical form ("2001:db8::1")']],
])('the address %s is rejected', (text, problems) => {
  expect(canonicalIpProblems(text)).toEqual(problems);
});

it.each([
  ['10.0.0.0/8', []],
  ['2001:db8::/64', []],
  ['10.0.0.0', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ['10.0.0.1/8', ['must not have bits set beyond the prefix length']],
  ['2001:db8:0::/64', ['must be in canonical form ("2001:db8::/64")']],
])('the range %s is judged', (text, problems) => {
  expect(canonicalCidrProblems(text)).toEqual(problems);
});
