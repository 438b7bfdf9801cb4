import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';

it('exports an object without status and counters', async () => {
  const api = await testServer([Namespace, Pod]);
  const spec = { containers: [{ name: 'main', image: 'busybox:1' }] };
  const { name } = (await api.create('pods', { metadata: { generateName: 'a-' }, spec })).metadata;
  await api.patch('pods', name, { spec: { activeDeadlineSeconds: 5 } });
  await api.patch('pods', name, { status: { phase: 'Running', podIP: '10.0.0.1' } }, { subresource: 'status' });

  const { metadata, status } = await api.get('pods', name, { options: { export: true } });
  expect(metadata).toEqual({ generateName: 'a-' });
  expect(status).toBeUndefined();

  const exact = await api.get('pods', name, { options: { export: true, exact: true } });
  expect(exact.metadata).toEqual({ generateName: 'a-', name, namespace: 'default' });
  expect(exact.status).toBeUndefined();
});
