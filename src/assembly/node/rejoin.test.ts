import { expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import type { Transport } from '../../client/transport/transport.ts';
import { Rejoin } from './rejoin.ts';

const untrusted = new ApiError('ServiceUnavailable', 'cannot reach it', {
  cause: Object.assign(new Error('x'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }),
});

function world({ hasToken }: { readonly hasToken: boolean }) {
  const clock = new ControlledClock(0);
  const seen = { joins: 0, joined: 0, errors: [] as unknown[] };
  let failure: Error | undefined;
  const rejoin = new Rejoin({
    clock,
    log: { ...silent, error: (_message, fields) => seen.errors.push(fields) },
    async join() {
      seen.joins++;
      if (!hasToken) throw new Error('--token is needed to join');
    },
    joined: () => seen.joined++,
  });
  const failing = async () => {
    throw failure;
  };
  const transport = rejoin.noticing({ call: failing, watch: failing } as unknown as Transport);
  const request = async (error: Error, kind: 'call' | 'watch' = 'call') => {
    failure = error;
    await expect(transport[kind]({} as never)).rejects.toBe(error);
    await new Promise(setImmediate);
  };
  return { clock, seen, request };
}

it.each([
  ['does not know the node', new ApiError('Unauthorized', 'Unauthorized'), 'call'],
  ['does not know the node that watches', new ApiError('Unauthorized', 'Unauthorized'), 'watch'],
  ['is not known to the node', untrusted, 'call'],
] as const)('a node joins again, once, when the server %s', async (_, error, kind) => {
  const { seen, request } = world({ hasToken: true });
  await request(error, kind);
  await request(error, kind);
  expect(seen).toEqual({ joins: 1, joined: 1, errors: [] });
});

it('other errors are no reason', async () => {
  const { seen, request } = world({ hasToken: true });
  await request(new ApiError('Forbidden', 'no'));
  await request(new ApiError('ServiceUnavailable', 'cannot reach it', { cause: new Error('rejected') }));
  expect(seen.joins).toBe(0);
});

it('a node that cannot join says what to do, and tries less and less often', async () => {
  const { clock, seen, request } = world({ hasToken: false });
  const unauthorized = new ApiError('Unauthorized', 'Unauthorized');
  for (let second = 0; second < 60; second++) {
    await request(unauthorized);
    await clock.advance(1_000);
  }
  expect(seen).toMatchObject({ joins: 3, joined: 0 });
  expect(seen.errors[0]).toMatchObject({
    help: expect.stringContaining('qd token create'),
    error: 'Error: --token is needed to join',
  });
});
