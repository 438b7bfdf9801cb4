import { expect, it } from 'vitest';
import { published } from './published.ts';

it('keeps a large document in memory that the front thread can read', () => {
  const { body } = published({ large: 'ä'.repeat(100_000) }, 'application/json');
  expect(body.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(JSON.parse(body.toString())).toEqual({ large: 'ä'.repeat(100_000) });
});
