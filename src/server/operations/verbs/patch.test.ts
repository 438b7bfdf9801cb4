import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';

it('rejects a patch that does not apply, with the reason and with details, even empty ones', async () => {
  const api = await testServer([ConfigMap, Namespace]);
  await api.create('configmaps', { metadata: { name: 'a' } });
  const body = [{ op: 'test', path: '/metadata/name', value: 'b' }];
  const rejected = await api.patch('configmaps', 'a', body, { patchType: 'json' }).catch((error) => error);
  expect(rejected.toStatus()).toMatchObject({
    code: 422,
    message: 'testing value /metadata/name failed: test failed',
    details: {},
  });
});
