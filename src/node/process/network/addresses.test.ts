import { expect, it } from 'vitest';
import { nextAddress, parseRange } from './addresses.ts';

it('gives addresses in turn, and none twice', () => {
  const range = parseRange('10.244.3.0/29');
  expect(range).toMatchObject({ gateway: '10.244.3.1', prefixLength: 29 });
  const used = new Set<string>();
  let last: string | undefined;
  for (let i = 0; i < 5; i++) {
    last = nextAddress(range, used, last);
    used.add(last!);
  }
  expect([...used]).toEqual(['10.244.3.2', '10.244.3.3', '10.244.3.4', '10.244.3.5', '10.244.3.6']);
  expect(nextAddress(range, used, last)).toBeUndefined();
  used.delete('10.244.3.3');
  expect(nextAddress(range, used, last)).toBe('10.244.3.3');
});

it('does not use an address again at once', () => {
  const range = parseRange('10.1.0.0/16');
  expect(nextAddress(range, new Set(), '10.1.0.255')).toBe('10.1.1.0');
  expect(nextAddress(range, new Set(), '10.1.255.254')).toBe('10.1.0.2');
});

it.each(['10.0.0.0', 'fd00::/64', '10.0.0.0/31', '300.0.0.0/24'])('rejects %s', (cidr) => {
  expect(() => parseRange(cidr)).toThrow(/not a range/);
});
