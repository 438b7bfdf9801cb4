import { expect, it } from 'vitest';
import { contentOf } from './sources.ts';

it('an encrypted backup without its key is rejected, and its stream is ended', async () => {
  let isEnded = false;
  async function* sealed() {
    try {
      for (;;) yield Buffer.from('age-encryption.org/v1\n');
    } finally {
      isEnded = true;
    }
  }
  const content = contentOf({ name: 'b.age', open: sealed }, undefined);
  await expect(content.next()).rejects.toThrow('b.age is encrypted: name its key with --passphrase-file or --identity');
  expect(isEnded).toBe(true);
});
