import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareKeys, prefixEnd } from './keys.ts';

const text = fc.string({ unit: 'binary' });

describe('keys', () => {
  it('compare like their bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareKeys(a, b))).toBe(bytes);
      }),
    );
  });

  it('end before the prefix end when they have the prefix', () => {
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        const end = prefixEnd(prefix);
        if (prefix === '') expect(end).toBeUndefined();
        else expect(Buffer.compare(Buffer.from(prefix + rest), end as Buffer)).toBe(-1);
      }),
    );
  });
});
