import { expect, it } from 'vitest';
import { published } from './published.ts';

it('a large document lies where the thread that sends it can read it', () => {
  const { body } = published({ large: 'ä'.repeat(100_000) }, 'application/json');
  expect(body.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(JSON.parse(body.toString())).toEqual({ large: 'ä'.repeat(100_000) });
});
