import { expect, it } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';

it('exports the status and counters of a new object', async () => {
  const api = await testServer([Namespace, Pod]);
  const spec = { containers: [{ name: 'main', image: 'busybox:1' }] };
  const { name } = (await api.create('pods', { metadata: { generateName: 'a-' }, spec })).metadata;
  await api.patch('pods', name, { spec: { activeDeadlineSeconds: 5 } });
  await api.patch('pods', name, { status: { phase: 'Running', podIP: '10.0.0.1' } }, { subresource: 'status' });

  const { metadata, status } = await api.get('pods', name, { options: { export: true } });
  expect(metadata).toMatchObject({ generateName: 'a-', generation: 1 });
  expect(metadata.name).toBeUndefined();
  expect(status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });

  const exact = await api.get('pods', name, { options: { export: true, exact: true } });
  expect(exact).toMatchObject({ metadata: { name }, status: { phase: 'Pending' } });
});
