import { expect, it } from 'vitest';
import { PlannerWorld, settle } from '../../../../test/support/planner-world.ts';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { planRootCa } from './root-ca.ts';

const data = fc.option(fc.dictionary(fc.constantFrom('ca.crt', 'other'), fc.constantFrom('CA', 'wrong')), {
  nil: undefined,
});

it('planRootCa ends with the authority published, whatever was there, and touches nothing else', async () => {
  const configMap = fc.record({ data, binaryData: data, immutable: fc.boolean() });
  await forAllAsync(fc.option(configMap, { nil: undefined }), async (found) => {
    const world = new PlannerWorld();
    const namespace = world.put(Namespace, { metadata: { name: 'x' }, spec: {}, status: {} });
    const other = world.put(ConfigMap, { metadata: { name: 'mine', namespace: 'x' }, data: { 'ca.crt': 'wrong' } });
    if (found) world.put(ConfigMap, { metadata: { name: 'kube-root-ca.crt', namespace: 'x' }, ...found });
    await settle(world, () => planRootCa(namespace, world, 'CA'));
    const published = world.of(ConfigMap).get('kube-root-ca.crt', 'x');
    expect(published.data).toEqual({ 'ca.crt': 'CA' });
    expect(published.binaryData).toBeUndefined();
    expect(world.of(ConfigMap).get('mine', 'x')).toBe(other);
  });
});

it('planRootCa ignores namespaces that are terminating or gone, and objects that are being deleted', () => {
  const world = new PlannerWorld();
  const deletionTimestamp = '2030-01-01T00:00:00Z';
  const ending = world.put(Namespace, { metadata: { name: 'x', deletionTimestamp }, spec: {}, status: {} });
  expect(planRootCa(ending, world, 'CA')).toEqual([]);
  expect(planRootCa(undefined, world, 'CA')).toEqual([]);
  const kept = world.put(Namespace, { metadata: { name: 'y' }, spec: {}, status: {} });
  world.put(ConfigMap, { metadata: { name: 'kube-root-ca.crt', namespace: 'y', deletionTimestamp } });
  expect(planRootCa(kept, world, 'CA')).toEqual([]);
});
