import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';

it('requires a resourceVersion only for kinds that several clients write to', async () => {
  const api = await testServer([ConfigMap, Lease, Namespace]);
  const at = { apiVersion: 'coordination.k8s.io/v1' };
  const lease = (holderIdentity: string, resourceVersion?: string) => ({
    metadata: { name: 'a', resourceVersion },
    spec: { holderIdentity },
  });
  const made = await api.update('leases', lease('me'), at);
  for (const version of [undefined, '0']) {
    await expect(api.update('leases', lease('you', version), at)).rejects.toMatchObject({
      code: 422,
      message:
        'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases' },
    });
  }
  const taken = await api.update('leases', lease('you', made.metadata.resourceVersion), at);
  expect(taken.spec.holderIdentity).toBe('you');
  expect((await api.patch('leases', 'a', { spec: { holderIdentity: 'me' } }, at)).spec.holderIdentity).toBe('me');
  await api.create('configmaps', { metadata: { name: 'a' } });
  expect((await api.update('configmaps', { metadata: { name: 'a' }, data: { a: 'b' } })).data).toEqual({ a: 'b' });
});

it('keeps warnings and annotations when it creates the object instead', async () => {
  const plugin: AdmissionPlugin = {
    name: 'Test',
    handles: (kind) => kind === Lease,
    validate(_, request) {
      request.warn('from admission');
      request.annotate('example.com/a', 'b');
    },
  };
  const api = await testServer([Lease, Namespace], { admission: [plugin] });
  const body = { metadata: { name: 'new' }, spec: { holder: 'me' } };
  const notes = await api.notes('update', 'leases', { apiVersion: 'coordination.k8s.io/v1', name: 'new', body });
  expect(notes.warnings).toEqual(['unknown field "spec.holder"', 'from admission']);
  expect(notes.annotations).toEqual({ 'example.com/a': 'b' });
});
