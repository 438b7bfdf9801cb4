import { describe, expect, it } from 'vitest';
import { cidrProblems, endpointIpProblems, ipFamily, ipProblems, parseIp } from './ip-address.ts';

describe('an IP address', () => {
  it.each([
    ['10.9.8.7', [10, 9, 8, 7]],
    ['010.009.8.7', [10, 9, 8, 7]],
    ['::', new Array(16).fill(0)],
    ['2001:db8::ff', [0x20, 1, 0x0d, 0xb8, ...new Array(11).fill(0), 0xff]],
    ['::ffff:1.2.3.4', [...new Array(10).fill(0), 255, 255, 1, 2, 3, 4]],
    ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ])('%s has its bytes', (text, bytes) => {
    expect([...(parseIp(text) ?? [])]).toEqual(bytes);
  });

  it.each([
    ['10.9.8.7', []],
    ['2001:DB8:0::1', []],
    ['', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['10.9.8', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['10.9.8.256', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['fe80::1%eth0', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['10.09.8.7', ['must not have leading 0s']],
    ['::ffff:10.9.8.7', ['must not be an IPv4-mapped IPv6 address']],
  ])('%j is judged', (text, problems) => {
    expect(ipProblems(text)).toEqual(problems);
  });

  it.each([
    ['10.0.0.1', 'IPv4'],
    ['fd00::1', 'IPv6'],
    ['None', undefined],
  ])('%s is of its family', (text, family) => {
    expect(ipFamily(text)).toBe(family);
  });
});

it.each([
  ['10.9.8.0/24', []],
  ['0.0.0.0/0', []],
  ['2001:db8::/64', []],
  ['10.9.8.0', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ['10.9.8.0/33', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ['10.9.8.0/24/1', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ['10.9.8.0/024', ['must not have leading 0s in IP or prefix length']],
  ['010.9.8.0/24', ['must not have leading 0s in IP or prefix length']],
  ['::ffff:1.2.3.0/120', ['must not have an IPv4-mapped IPv6 address']],
  ['10.9.8.7/24', ['must not have bits set beyond the prefix length']],
  ['2001:db8::1/64', ['must not have bits set beyond the prefix length']],
])('an IP range: %j is judged', (text, problems) => {
  expect(cidrProblems(text)).toEqual(problems);
});

it.each([
  ['10.9.8.7', []],
  ['fd00::1', []],
  ['x', ['must be a valid IP address']],
  ['0.0.0.0', ['may not be unspecified (0.0.0.0)']],
  ['::', ['may not be unspecified (::)']],
  ['127.1.2.3', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
  ['::1', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
  ['169.254.0.9', ['may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
  ['fe80::9', ['may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
  ['224.0.0.1', ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']],
  ['ff02::1', ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']],
])('an address that traffic goes to: %s is judged', (text, problems) => {
  expect(endpointIpProblems(text)).toEqual(problems);
});
