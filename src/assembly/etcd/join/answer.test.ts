import { beforeEach, describe, expect, test } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { systemRandom } from '../../../base/random.ts';
import { letServersJoin } from '../../../cli/credentials/token/joining-rights.ts';
import { createClient } from '../../../client/client.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import { allKinds } from '../../../kinds/all.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { joinAction } from './answer.ts';
import type { JoinBundle } from './bundle.ts';
import { unseal } from './sealed.ts';

const token = { id: 'abcdef', secret: '0123456789abcdef' };
const holder = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers:quarterdeck:servers'] };
const bundle = { format: 1, encryptionKey: 'the key' } as JoinBundle;

let served: TestServer;
const action = () => joinAction({ server: served.server, random: systemRandom, bundle: async () => bundle });
const client = () => createClient(directTransport(served.server.direct({ name: 'admin', groups: ['system:masters'] })));
const createSecret = () =>
  client()
    .of(Secret)
    .create({
      metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: { 'token-id': token.id, 'token-secret': token.secret },
    } as never);

beforeEach(async () => {
  served = await testServer(allKinds, { authorization: ['RBAC'], defaultRoles: true, namespaces: ['kube-system'] });
});

describe('a server that joins', () => {
  test('gets the keys of the cluster, for its token alone', async () => {
    await letServersJoin(client(), await createSecret());
    const sealed = await action().perform(holder);
    expect(JSON.stringify(sealed)).not.toContain('the key');
    expect(JSON.parse(unseal(sealed, token)!)).toEqual(bundle);
  });

  test('gets nothing by a Secret that somebody made who may make Secrets', async () => {
    await createSecret();
    await expect(action().perform(holder)).rejects.toMatchObject({ reason: 'Forbidden' });
  });

  test('gets nothing once the token is revoked', async () => {
    await letServersJoin(client(), await createSecret());
    await client().of(Secret).in('kube-system').delete('bootstrap-token-abcdef');
    await expect(action().perform(holder)).rejects.toMatchObject({ reason: 'Forbidden' });
  });

  test.each([
    ['an administrator', { name: 'admin', groups: ['system:masters'] }],
    ['a node', { name: 'system:node:a', groups: ['system:nodes'] }],
    ['the holder of another token', { ...holder, name: 'system:bootstrap:abcdeg' }],
    ['a user with a name like that of a token', { ...holder, name: 'x:system:bootstrap:abcdef' }],
  ])('is not %s', async (_, user) => {
    await letServersJoin(client(), await createSecret());
    await expect(action().perform(user)).rejects.toMatchObject({ reason: 'Forbidden' });
  });
});
