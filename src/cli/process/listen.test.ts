import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { Random } from '../../base/random.ts';
import { checkFree, freePort } from './listen.ts';

const HOST = '127.0.0.1';

/** Gives these numbers, one after the other. */
const randomOf = (...numbers: number[]): Random => ({
  int: () => numbers.shift()!,
  uuid: () => '',
  bytes: (length) => Buffer.alloc(length),
});

test('a free port is not one that is taken, and none of those that outgoing connections get', async () => {
  const taken = createServer();
  let offset = 0;
  for (; !taken.listening; offset++) {
    taken.listen({ host: HOST, port: 16_384 + offset, exclusive: true });
    await Promise.race([once(taken, 'listening'), once(taken, 'error')]).catch(() => undefined);
  }
  try {
    const port = await freePort(HOST, randomOf(offset - 1, 12_000, 12_001, 12_002));
    expect(port).toBeGreaterThanOrEqual(16_384 + 12_000);
    expect(port).toBeLessThan(30_000);
    await expect(checkFree({ host: HOST, port: 16_384 + offset - 1 })).rejects.toThrow('is used by another program');
  } finally {
    taken.close();
  }
});
