import { expect, it } from 'vitest';
import { canonicalRange, isInRange, isPartOfRange } from './ip-range.ts';

it.each([
  ['10.1.2.3/16', '10.1.0.0/16'],
  ['2001:DB8:0::1/64', '2001:db8::/64'],
  ['10.1.2.3/33', undefined],
  ['10.1.2.3', undefined],
  ['10.1.2.3/8/8', undefined],
])('the range %s is %s', (text, range) => {
  expect(canonicalRange(text)).toBe(range);
});

it.each([
  ['10.1.255.255', '10.1.0.0/16', true],
  ['10.2.0.0', '10.1.0.0/16', false],
  ['2001:db8::1', '2001:db8::/64', true],
  ['10.1.0.1', '::/0', false],
])('address %s, range %s: %s', (address, range, isIn) => {
  expect(isInRange(address, range)).toBe(isIn);
});

it.each([
  ['10.1.0.0/24', '10.1.0.0/16', true],
  ['10.1.0.0/16', '10.1.0.0/16', true],
  ['10.1.0.0/8', '10.1.0.0/16', false],
  ['10.2.0.0/24', '10.1.0.0/16', false],
])('%s is part of %s: %s', (part, range, isPart) => {
  expect(isPartOfRange(part, range)).toBe(isPart);
});
