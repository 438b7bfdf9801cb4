import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../test/support/property-runs.ts';
import {
  addQuantities,
  canonicalQuantity,
  canonicalThousandths,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QuantityError,
  scaled,
  subtractQuantities,
} from './quantity.ts';

it.each([
  ['0.0001', '1m'],
  ['100u', '1m'],
  ['1500001u', '1501m'],
  ['-100n', '-1m'],
  ['0.1Mi', '104857600m'],
  ['1.500', '1.500'],
  ['0', '0'],
])('with thousandths as the smallest unit: %s is %s', (text, canonical) => {
  expect(canonicalThousandths(text)).toBe(canonical);
});

it.each([
  ['0', '0'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['.5', '500m'],
  ['1.5', '1500m'],
  ['100m', '100m'],
  ['1024Ki', '1Mi'],
  ['128Mi', '128Mi'],
  ['1536Mi', '1536Mi'],
  ['1.5Gi', '1536Mi'],
  ['512Ki', '512Ki'],
  ['0.5Ki', '512'],
  ['0.1Mi', '104857600m'],
  ['1024', '1024'],
  ['1000', '1k'],
  ['1000k', '1M'],
  ['100000', '100k'],
  ['123456789', '123456789'],
  ['1e3', '1e3'],
  ['1e4', '10e3'],
  ['1000e0', '1e3'],
  ['1E', '1E'],
  ['1e-3', '1e-3'],
  ['0.0000000001', '1n'],
  ['-0.0000000001', '-1n'],
  ['-1', '-1'],
  ['-1024Mi', '-1Gi'],
  ['0Gi', '0'],
  ['100Ei', '9223372036854775807'],
  ['1000000000000000000000', '1000E'],
])('the canonical form of %s is %s', (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
  expect(canonicalQuantity(canonical)).toBe(canonical);
});

it('the canonical form keeps canonical text unchanged, including decimals', () => {
  expect(canonicalQuantity('1.500')).toBe('1.500');
  expect(canonicalQuantity('+5')).toBe('+5');
});

describe('a text that is not a quantity', () => {
  const words = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

  it.each(['', 'x', '1 Mi', '1.2.3', '1Mi!', 'lots'])('rejects %j for its syntax', (text) => {
    expect(() => canonicalQuantity(text)).toThrow(new QuantityError(words));
  });

  it.each(['1mm', '--1', '1e', 'K', '1i', '1Kb'])('rejects %j for its suffix', (text) => {
    expect(() => parseQuantity(text)).toThrow(QuantityError);
  });

  it('includes one with an exponent that is too large', () => {
    expect(() => parseQuantity('1e999999999')).toThrow('unable to parse numeric part of quantity');
    expect(() => parseQuantity('1e-999999999')).toThrow('unable to parse numeric part of quantity');
  });
});

describe('a suffix without digits', () => {
  it.each(['Mi', 'k', '.', '-', '+', 'Ti', 'e5', 'n', '.Mi', '+e-9', 'E'])('is zero: %s', (text) => {
    expect(parseQuantity(text).mantissa).toBe(0n);
  });

  it.each(['Pi', 'Ei', '.Pi', '+Pi', 'e-10', '.e-10'])('is rejected where Kubernetes computes exactly: %s', (text) => {
    expect(() => parseQuantity(text)).toThrow('unable to parse numeric part of quantity');
  });

  it('does not matter where there are digits', () => {
    expect(parseQuantity('0Pi').mantissa).toBe(0n);
    expect(canonicalQuantity('.5Pi')).toBe('512Ti');
  });
});

const add = (a: string, b: string) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
const subtract = (a: string, b: string) => formatQuantity(subtractQuantities(parseQuantity(a), parseQuantity(b)));

it('arithmetic is exact across suffixes and keeps the format of the first', () => {
  expect(add('100m', '0.9')).toBe('1');
  expect(add('1Gi', '1M')).toBe('1074741824');
  expect(add('0', '1Gi')).toBe('1Gi');
  expect(subtract('1', '1m')).toBe('999m');
  expect(subtract('1Gi', '1Gi')).toBe('0');
});

it('arithmetic compares amounts, not texts', () => {
  expect(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G'))).toBe(1);
  expect(compareQuantities(parseQuantity('1000m'), parseQuantity('1'))).toBe(0);
  expect(compareQuantities(parseQuantity('-1'), parseQuantity('0'))).toBe(-1);
});

const written = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.nat(),
    fc.constantFrom('', '.', '.5', '.025', '.1234567890123'),
    fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'e-7',
      'E2',
    ),
  )
  .map((parts) => parts.join(''));

it('an amount is decimal when it is read again without the suffix that it lost, as in Kubernetes', () => {
  expect(canonicalQuantity('346327937.5Ki')).toBe('354639808000');
  expect(canonicalQuantity('354639808000')).toBe('354639808k');
});

/** Bytes that are no whole number of Ki are written without a suffix, and so read again as a decimal amount. */
const losesItsFamily = (text: string, canonical: string) => text.endsWith('i') && /^[-+]?\d+$/.test(canonical);

it('for every quantity the canonical form is canonical, and the same amount', () => {
  forAll(written, (text) => {
    const canonical = canonicalQuantity(text);
    if (!losesItsFamily(text, canonical)) expect(canonicalQuantity(canonical)).toBe(canonical);
    expect(compareQuantities(parseQuantity(canonical), parseQuantity(text))).toBe(0);
  });
});

it('for every quantity subtraction undoes addition', () => {
  forAll(written, written, (a, b) => {
    const left = parseQuantity(a);
    const right = parseQuantity(b);
    expect(compareQuantities(subtractQuantities(addQuantities(left, right), right), left)).toBe(0);
  });
});

it.each([
  ['1500m', 0, 2n],
  ['1500m', 3, 1500n],
  ['1n', 3, 1n],
  ['-1500m', 0, -1n],
  ['1Ki', 3, 1_024_000n],
  ['2e3', -3, 2n],
])('%s times ten to the power of %i is %s, rounded up', (text, power, expected) => {
  expect(scaled(parseQuantity(text), power)).toBe(expected);
});
