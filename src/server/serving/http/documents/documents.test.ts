import { expect, it, vi } from 'vitest';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import { Discovery } from '../../discovery/discovery.ts';
import type { Exchange } from '../../exchange.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { Documents } from './documents.ts';

it('builds nothing for the first client after discovery was prepared', async () => {
  const groups = vi.fn(() => ['apps']);
  const ofGroup = vi.fn(() => [{ apiVersion: 'apps/v1', resources: () => [], isStale: false }]);
  const backends = { generation: 1, groups, ofGroup } as unknown as BackendRegistry;
  const version = { gitVersion: 'v1.36.0' } as ConstructorParameters<typeof Discovery>[0]['version'];
  const discovery = new Discovery({ backends, version, serverAddress: () => 'localhost:6443' });
  const documents = new Documents(
    { backends, discovery, metrics: {} as Metrics, version, documents: [] },
    { metrics: async () => '' },
  );
  documents.prepare();
  groups.mockClear();
  ofGroup.mockClear();
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  for (const path of ['/api', '/apis']) {
    const reply = vi.fn();
    const exchange = { method: 'GET', headers: { accept }, reply } as unknown as Exchange;
    expect(await documents.serve(exchange, path, false)).toBe(true);
    expect(reply).toHaveBeenCalledWith(200, expect.stringContaining('v=v2'), expect.anything(), expect.anything());
  }
  expect([groups.mock.calls, ofGroup.mock.calls]).toEqual([[], []]);
});
