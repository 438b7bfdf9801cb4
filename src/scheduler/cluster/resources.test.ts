import { expect, it } from 'vitest';
import type { Pod } from '../objects.ts';
import { requestsOf } from './resources.ts';

/** A pod on a node whose containers have been resized; the statuses are in another order. `onRead`: a status is looked at. */
function resized(count: number, onRead = () => {}): Pod {
  const names = Array.from({ length: count }, (_, i) => `c${i}`);
  const status = (each: string) => ({
    get name() {
      onRead();
      return each;
    },
    resources: { requests: { cpu: '2' } },
  });
  return {
    metadata: { name: 'p' },
    spec: {
      nodeName: 'n',
      containers: names.map((name) => ({ name, resources: { requests: { cpu: '1', memory: '1' } } })),
    },
    status: { containerStatuses: names.map(status).reverse() },
  } as unknown as Pod;
}

it('resources of containers count until a resize is done', () => {
  expect(requestsOf(resized(3)).cpu).toBe(6_000);
});

it('each status of many containers is looked at a few times', () => {
  const count = 1_000;
  let reads = 0;
  requestsOf(resized(count, () => reads++));
  expect(reads).toBeLessThanOrEqual(4 * count);
});
