import { expect, test } from 'vitest';
import { systemRandom } from '../../../base/random.ts';
import { seal, unseal } from './sealed.ts';

const token = { id: 'abcdef', secret: '0123456789abcdef' };
const TEXT = 'the keys of the cluster';

test('the holder of the token reads what was sealed', () => {
  const sealed = seal(TEXT, token, systemRandom);
  expect(unseal(JSON.parse(JSON.stringify(sealed)), token)).toBe(TEXT);
  expect(Buffer.from(sealed.content, 'base64').toString('latin1')).not.toContain('keys');
  expect(seal(TEXT, token, systemRandom)).not.toEqual(sealed);
});

test('nobody else does, and a change anywhere is noticed', () => {
  const sealed = seal(TEXT, token, systemRandom);
  expect(unseal(sealed, { ...token, secret: '0123456789abcdeg' })).toBeUndefined();
  expect(unseal(sealed, { ...token, id: 'abcdeg' })).toBeUndefined();
  const bytes = Buffer.from(sealed.content, 'base64');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(unseal({ ...sealed, content: changed.toString('base64') }, token)).toBeUndefined();
  }
});

test('anything else is rejected', () => {
  const sealed = seal(TEXT, token, systemRandom);
  const short = Buffer.from(sealed.content, 'base64').subarray(0, 59).toString('base64');
  for (const wrong of [
    undefined,
    null,
    'x',
    {},
    { ...sealed, format: 2 },
    { ...sealed, content: 1 },
    { format: 1, content: short },
  ]) {
    expect(unseal(wrong, token)).toBeUndefined();
  }
});
