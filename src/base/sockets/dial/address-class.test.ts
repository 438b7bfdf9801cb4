import { expect, it } from 'vitest';
import { addressList, classOf, contains } from './address-class.ts';

it.each([
  ['10.0.0.1', 'unicast'],
  ['126.255.255.255', 'unicast'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['128.0.0.1', 'unicast'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['169.253.255.255', 'unicast'],
  ['169.254.169.254', 'link-local'],
  ['169.255.0.0', 'unicast'],
  ['223.255.255.255', 'unicast'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['255.255.255.255', 'multicast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['2001:db8::1', 'unicast'],
  ['fd00::1', 'unicast'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', 'unicast'],
  ['ff02::1', 'multicast'],
  // IPv4-mapped
  ['::ffff:10.0.0.1', 'unicast'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:169.254.169.254', 'link-local'],
  ['::ffff:0.0.0.0', 'unspecified'],
  ['::ffff:224.0.0.1', 'multicast'],
  // IPv4-compatible and IPv4-translated
  ['::127.0.0.1', 'loopback'],
  ['::a9fe:a9fe', 'link-local'],
  ['::ffff:0:127.0.0.1', 'loopback'],
  // NAT64
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::a9fe:a9fe', 'link-local'],
  ['64:ff9b::a00:1', 'unicast'],
  ['64:ff9b:1::127.0.0.1', 'loopback'],
  // 6to4
  ['2002:7f00:1::', 'loopback'],
  ['2002:7f00:1::1', 'loopback'],
  ['2002:a9fe:a9fe::1', 'link-local'],
  ['2002:e000:1::1', 'multicast'],
  ['2002:a00:1::1', 'unicast'],
])('the class of an address: %s is %s', (address, expected) => {
  expect(classOf(address)).toBe(expected);
});

it.each(['', 'localhost', '127.1', '127.0.0.01', '256.0.0.1', '127.0.0.1/8', ':::', '[::1]'])(
  'the class of an address does not exist for %j, which is no address',
  (text) => {
    expect(classOf(text)).toBeUndefined();
  },
);

it('a list of addresses contains ranges and single addresses, in all their spellings', () => {
  const list = addressList(['10.1.0.0/16', '192.0.2.7', 'fd00::/64', '2001:db8::7', 'fe80::7%eth0']);
  const inside = ['10.1.2.3', '192.0.2.7', 'fd00::5', '2001:db8:0::7', '::ffff:192.0.2.7', '64:ff9b::c000:207'];
  for (const address of [...inside, 'fe80::7', 'fe80::7%eth1'])
    expect([address, contains(list, address)]).toEqual([address, true]);
  for (const address of ['10.2.0.1', '192.0.2.8', 'fd00:0:0:1::', '2001:db8::8', 'name', '']) {
    expect([address, contains(list, address)]).toEqual([address, false]);
  }
});
