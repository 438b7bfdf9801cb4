import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeMovable } from '../../../../base/bytes/shared-buffer.ts';
import { ConfigMap } from '../../../../kinds/groups/core/configuration/config-map.ts';
import { Registry } from '../../../objects/registry/registry.ts';
import type { Exchange } from '../../exchange.ts';
import { defaultLimits } from '../limits.ts';
import type { Route } from '../route/route.ts';
import { batched, RequestBodies } from './request-bodies.ts';

const bodies = new RequestBodies(new Registry([ConfigMap], []), defaultLimits);
const route = { resource: { kind: ConfigMap, version: ConfigMap.hub } } as unknown as Route;

/** A body as the front thread passes it on: in memory of its own, without other references. */
function large(tree: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(tree));
  const alone = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(alone);
  return makeMovable(alone);
}

const data = { a: 'x'.repeat(500_000) };

it.each([
  ['create', 'application/json', { metadata: { name: 'a' }, data }],
  ['patch', 'application/merge-patch+json', { data }],
  ['patch', 'application/apply-patch+yaml', { data }],
] as const)('frees the memory of a large body when it is decoded: %s, %s', async (verb, type, tree) => {
  const bytes = large(tree);
  const exchange = { headers: { 'content-type': type }, body: () => Promise.resolve(bytes) } as unknown as Exchange;
  const { body } = await bodies.read(exchange, { route, verb, options: undefined, begin: () => undefined });
  expect(bytes.buffer.byteLength).toBe(0);
  expect(body).toEqual(tree);
});

it('frees the body when it is rejected, too, and quotes its beginning', async () => {
  const bytes = large([data]);
  const exchange = { headers: {}, body: () => Promise.resolve(bytes) } as unknown as Exchange;
  const reading = bodies.read(exchange, { route, verb: 'create', options: undefined, begin: () => undefined });
  await expect(reading).rejects.toThrow('5b7b2261223a22');
  expect(bytes.buffer.byteLength).toBe(0);
});

/** Counts the bodies, which arrive at the same time, that are handled in each turn of the event loop. */
async function handledPerTurn(sizes: readonly number[]): Promise<number[]> {
  let handled = 0;
  const all = sizes.map((size) => batched(Promise.resolve(Buffer.alloc(size))).then(() => handled++));
  const turns: number[] = [];
  while (handled < sizes.length) {
    const before = handled;
    await nextTurn();
    if (handled > before) turns.push(handled - before);
  }
  await Promise.all(all);
  return turns;
}

it('handles a few small bodies in a turn', async () => {
  expect(await handledPerTurn(Array(20).fill(1_000))).toEqual([8, 8, 4]);
});

it('handles one large body in a turn', async () => {
  expect(await handledPerTurn([1_000, 3_000_000, 3_000_000, 1_000, 1_000])).toEqual([2, 1, 2]);
});
