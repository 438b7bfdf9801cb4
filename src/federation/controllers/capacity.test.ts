import { expect, it } from 'vitest';
import { ScriptedApi } from '../../../test/support/scripted-api.ts';
import type { AnyObject } from '../../api/object-types.ts';
import { createClient } from '../../client/client.ts';
import { capacityOf } from './capacity.ts';

const NOW = Date.parse('2030-01-01T00:10:00Z');
const { signal } = new AbortController();

const deployment = (readyReplicas: number) =>
  ({
    metadata: { name: 'web', namespace: 'x' },
    spec: { selector: { matchLabels: { app: 'web' } } },
    status: { readyReplicas },
  }) as unknown as AnyObject;

function pod(name: string, waitedSeconds: number | undefined, more: object = {}): any {
  const lastTransitionTime = new Date(NOW - (waitedSeconds ?? 0) * 1000).toISOString();
  const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', lastTransitionTime };
  return {
    metadata: { name, namespace: 'x', labels: { app: 'web' }, ...more },
    status: { conditions: waitedSeconds === undefined ? [{ type: 'PodScheduled', status: 'True' }] : [unschedulable] },
  };
}

async function capacity(pods: readonly any[], replicas = 5, ready = 2) {
  const api = new ScriptedApi();
  for (const each of pods) api.put('pods', each);
  const options = { client: createClient(api), signal, now: NOW, patienceMs: 60_000 };
  return capacityOf(deployment(ready), replicas, options);
}

it('the capacity of a cluster is not limited while all replicas are ready, or pods have not waited long', async () => {
  expect(await capacity([pod('a', 120)], 2, 2)).toEqual({ replicas: undefined });
  expect(await capacity([pod('a', undefined), pod('b', undefined)])).toEqual({ replicas: undefined });
  expect(await capacity([pod('a', 10), pod('b', 25)])).toEqual({ replicas: undefined, lookAgainAfterMs: 35_000 });
});

it('the capacity of a cluster is what runs, when pods have waited long for a node', async () => {
  expect(await capacity([pod('a', undefined), pod('b', undefined), pod('c', 61), pod('d', 90), pod('e', 30)])).toEqual({
    ...{ replicas: 3, lookAgainAfterMs: 30_000 },
  });
  expect(await capacity([pod('a', 61), pod('b', 61)], 1, 0)).toEqual({ replicas: 0 });
});

it('the capacity of a cluster does not count pods that are being deleted', async () => {
  expect(await capacity([pod('a', 90, { deletionTimestamp: '2030-01-01T00:00:00Z' })])).toEqual({
    replicas: undefined,
  });
});
