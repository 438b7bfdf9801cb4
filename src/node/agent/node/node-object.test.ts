import { expect, it } from 'vitest';
import { nodeStatus, type StatusParts } from './node-object.ts';

const PARTS: StatusParts = {
  settings: { name: 'n', addresses: [], labels: {}, taints: [], podCIDRs: [], port: undefined },
  description: { capacity: {}, allocatable: {}, nodeInfo: {} },
  images: [],
  runtime: { handlers: [], supplementalGroupsPolicy: undefined },
  conditions: [],
};

it('reports what the handlers of the runtime can do', () => {
  const handler = { name: 'runc', recursiveReadOnlyMounts: true, userNamespaces: false };
  expect(nodeStatus({ ...PARTS, runtime: { handlers: [handler], supplementalGroupsPolicy: true } })).toMatchObject({
    runtimeHandlers: [{ name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
    features: { supplementalGroupsPolicy: true },
  });
});

it('reports nothing about a runtime that does not say', () => {
  const status = nodeStatus(PARTS);
  expect(status).not.toHaveProperty('runtimeHandlers');
  expect(status).not.toHaveProperty('features');
});
