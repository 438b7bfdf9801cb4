import { expect, it } from 'vitest';
import { ApiError } from '../../base/errors.ts';
import { ConfigMap } from '../../kinds/groups/core/config-map.ts';
import { createClient } from '../client.ts';
import { foreignTransport } from './foreign-transport.ts';
import type { Answer, Transport } from './transport.ts';

const FOREIGN = { peer: 'east:6443', maxListBytes: 1_000 };

function answering(call: () => Promise<Answer>): Transport {
  return foreignTransport({ call, watch: () => Promise.reject(new Error('not watched')) }, FOREIGN);
}

it('a list without an end is an error', async () => {
  let pages = 0;
  const metadata = { resourceVersion: '1', continue: 'more' };
  const transport = answering(async () => {
    pages++;
    return { type: 'list', metadata, items: [], bytes: 100 };
  });
  await expect(createClient(transport).of(ConfigMap).listAll()).rejects.toMatchObject({
    ...{ reason: 'RequestEntityTooLarge', message: 'the list of configmaps is larger than 1000 bytes' },
  });
  expect(pages).toBe(11);
});

it('long messages are shortened, and keep their reason', async () => {
  const transport = answering(() => Promise.reject(new ApiError('Forbidden', 'a'.repeat(5_000))));
  await expect(createClient(transport).of(ConfigMap).list()).rejects.toMatchObject({
    ...{ reason: 'Forbidden', message: `${'a'.repeat(2_000)} ...` },
  });
});
