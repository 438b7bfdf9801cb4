import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../test/support/server.ts';
import { allKinds } from '../../kinds/all.ts';

let api: TestServer;
beforeEach(async () => {
  api = await testServer(allKinds);
});

const cluster: any = { namespace: undefined };
const authentication = { ...cluster, apiVersion: 'authentication.k8s.io/v1' };
const authorization = { ...cluster, apiVersion: 'authorization.k8s.io/v1' };

describe('questions about identities', () => {
  it('tell the caller who he is', async () => {
    const { status } = await api.create('selfsubjectreviews', {}, authentication);
    expect(status.userInfo).toEqual({ username: 'tester', groups: ['system:masters'] });
  });

  it('tell whose a token is, and that it is nobody’s', async () => {
    api.server.identifyBy(async (token) =>
      token === 'good' ? { user: { name: 'ann', groups: ['g'] }, audiences: ['api'] } : undefined,
    );
    const ask = async (token: string) => (await api.create('tokenreviews', { spec: { token } }, authentication)).status;
    expect(await ask('good')).toEqual({
      authenticated: true,
      user: { username: 'ann', groups: ['g'] },
      audiences: ['api'],
    });
    expect(await ask('bad')).toEqual({ user: {}, error: 'invalid bearer token' });
    await expect(ask('')).rejects.toMatchObject({ code: 400 });
  });
});

describe('questions about rights', () => {
  it('are answered, and checked like any other body', async () => {
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
    const { status } = await api.create('selfsubjectaccessreviews', { spec: { resourceAttributes } }, authorization);
    expect(status).toEqual({ allowed: true });
    await expect(
      api.create('subjectaccessreviews', { spec: { resourceAttributes } }, authorization),
    ).rejects.toMatchObject({
      code: 422,
    });
    const rules = await api.create('selfsubjectrulesreviews', { spec: { namespace: 'default' } }, authorization);
    expect(rules.status.resourceRules).toEqual([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
  });
});

describe('the parts of the control plane', () => {
  it('are listed as they are found, and never stored', async () => {
    const list = await api.list('componentstatuses', cluster);
    expect(list.items.map(({ object }) => object.metadata.name)).toEqual(['etcd-0']);
    expect((await api.get('componentstatuses', 'etcd-0', cluster)).conditions).toEqual([
      { type: 'Healthy', status: 'True', message: 'ok' },
    ]);
    await expect(api.get('componentstatuses', 'none', cluster)).rejects.toMatchObject({ code: 404 });
  });
});
