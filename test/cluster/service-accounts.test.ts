import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { ServiceAccount } from '../../src/kinds/groups/core/service-account.ts';
import { AUTHORITY, type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;
beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

const text = (data: Readonly<Record<string, string>> | undefined, key: string) =>
  Buffer.from(data?.[key] ?? '', 'base64').toString();

const account = (namespace: string, name = 'default') => cluster.client.of(ServiceAccount).in(namespace).get(name);
const secrets = async (namespace: string) => (await cluster.client.of(Secret).in(namespace).list()).items;

/** The default account once it lists a secret, and that secret. */
async function ready(namespace: string) {
  await cluster.eventually(async () => {
    const { items } = await cluster.client
      .of(ServiceAccount)
      .in(namespace)
      .list({ fieldSelector: 'metadata.name=default' });
    return Boolean(items[0]?.secrets?.length);
  });
  const found = await account(namespace);
  const secret = await cluster.client
    .of(Secret)
    .in(namespace)
    .get(found.secrets?.[0]?.name ?? '');
  return { account: found, secret };
}

describe('service accounts', () => {
  it.each(['default', 'kube-system', 'kube-public'])(
    '%s has a default account that lists its token',
    async (namespace) => {
      const { account: found, secret } = await ready(namespace);
      expect(found.secrets).toEqual([{ name: secret.metadata.name }]);
      expect(secret.metadata.name).toMatch(/^default-token-[a-z0-9]{5}$/);
      expect(secret.type).toBe('kubernetes.io/service-account-token');
      expect(secret.metadata.annotations).toMatchObject({
        'kubernetes.io/service-account.name': 'default',
        'kubernetes.io/service-account.uid': found.metadata.uid,
      });
      expect(text(secret.data, 'token')).toBe(
        `token ${namespace}/default ${found.metadata.uid} ${secret.metadata.name}`,
      );
      expect(text(secret.data, 'namespace')).toBe(namespace);
      expect(text(secret.data, 'ca.crt')).toBe(AUTHORITY);
      expect(await secrets(namespace)).toHaveLength(1);
      expect(cluster.complaints).toEqual([]);
    },
  );

  it('are created for a new namespace, with one Secret each', async () => {
    for (let i = 0; i < 20; i++) await cluster.client.of(Namespace).create({ metadata: { name: `n${i}` } });
    for (let i = 0; i < 20; i++) await ready(`n${i}`);
    await cluster.clock.advance(60_000);
    for (let i = 0; i < 20; i++) expect(await secrets(`n${i}`)).toHaveLength(1);
  });

  it('are recreated when they are deleted, with another token, and the old token is revoked', async () => {
    const before = await ready('default');
    await cluster.client.of(ServiceAccount).in('default').delete('default');
    await cluster.clock.advance(1000);
    const after = await ready('default');
    expect(after.account.metadata.uid).not.toBe(before.account.metadata.uid);
    expect(after.secret.metadata.uid).not.toBe(before.secret.metadata.uid);
    expect(await secrets('default')).toHaveLength(1);
  });

  it('get another token when theirs is deleted, and list only that', async () => {
    const before = await ready('default');
    await cluster.client
      .of(Secret)
      .in('default')
      .delete(before.secret.metadata.name ?? '');
    await cluster.clock.advance(1000);
    const after = await ready('default');
    expect(after.account.secrets).toEqual([{ name: after.secret.metadata.name }]);
    expect(after.secret.metadata.name).not.toBe(before.secret.metadata.name);
  });

  it('keep what a user lists in them', async () => {
    await ready('default');
    const mine = { type: 'merge', changes: { secrets: [{ name: 'mine' }] } } as const;
    await cluster.client.of(ServiceAccount).in('default').patch('default', mine);
    await cluster.eventually(async () => (await account('default')).secrets?.length === 2);
    expect((await account('default')).secrets?.[0]).toEqual({ name: 'mine' });
    expect(await secrets('default')).toHaveLength(1);
  });
});

describe('token Secrets that users create', () => {
  const asked = (name: string, owner: string) => ({
    metadata: { name, namespace: 'default', annotations: { 'kubernetes.io/service-account.name': owner } },
    type: 'kubernetes.io/service-account-token',
  });
  const get = (name: string) => cluster.client.of(Secret).in('default').get(name);

  it('are filled at once, and deleted with their account', async () => {
    const { client } = cluster;
    const { metadata } = await client.of(ServiceAccount).create({ metadata: { name: 'robot', namespace: 'default' } });
    await client.of(Secret).create(asked('mine', 'robot'));
    await cluster.eventually(async () => text((await get('mine')).data, 'token') !== '');
    expect(text((await get('mine')).data, 'token')).toBe(`token default/robot ${metadata.uid} mine`);
    expect((await get('mine')).metadata.annotations?.['kubernetes.io/service-account.uid']).toBe(metadata.uid);
    // An account lists only the Secrets that the cluster made for it.
    expect((await account('default', 'robot')).secrets).toBeUndefined();

    await client.of(ServiceAccount).in('default').delete('robot');
    await cluster.eventually(async () => !(await secrets('default')).some((each) => each.metadata.name === 'mine'));
  });

  it('are deleted when there is no such account', async () => {
    await ready('default');
    await cluster.client.of(Secret).create(asked('lost', 'nobody'));
    await cluster.eventually(async () => !(await secrets('default')).some((each) => each.metadata.name === 'lost'));
  });

  it('are restored when their data is removed', async () => {
    const { secret } = await ready('default');
    const name = secret.metadata.name ?? '';
    const wiped = { type: 'merge', changes: { data: { token: null, 'ca.crt': 'b2xk' } } } as const;
    await cluster.client.of(Secret).in('default').patch(name, wiped);
    await cluster.eventually(async () => Boolean((await get(name)).data?.token));
    expect(text((await get(name)).data, 'ca.crt')).toBe(AUTHORITY);
  });

  it('are ignored when they are of another type', async () => {
    await ready('default');
    const plain = { ...asked('plain', 'nobody'), type: 'Opaque' };
    await cluster.client.of(Secret).create(plain);
    await cluster.clock.advance(60_000);
    expect((await get('plain')).data).toBeUndefined();
  });
});

describe('the authority of the cluster', () => {
  const find = (namespace: string) => cluster.client.of(ConfigMap).in(namespace).list();
  const published = (namespace: string) => async () =>
    (await find(namespace)).items.some(
      ({ metadata, data }) => metadata.name === 'kube-root-ca.crt' && data?.['ca.crt'] === AUTHORITY,
    );

  it('is in every namespace, and is restored when it is changed or deleted', async () => {
    const { client } = cluster;
    await client.of(Namespace).create({ metadata: { name: 'later' } });
    for (const namespace of ['default', 'kube-system', 'later']) await cluster.eventually(published(namespace));
    const maps = client.of(ConfigMap).in('later');
    await maps.patch('kube-root-ca.crt', { type: 'merge', changes: { data: { 'ca.crt': 'mine', more: 'x' } } });
    await cluster.eventually(published('later'));
    expect((await maps.get('kube-root-ca.crt')).data).toEqual({ 'ca.crt': AUTHORITY });
    await maps.delete('kube-root-ca.crt');
    await cluster.eventually(published('later'));
    await maps.patch('kube-root-ca.crt', { type: 'merge', changes: { data: { 'ca.crt': 'no' }, immutable: true } });
    await cluster.eventually(published('later'));
    expect(cluster.complaints).toEqual([]);
  });

  it('is restored after the controllers were disconnected', async () => {
    const { client, link, clock } = cluster;
    await cluster.eventually(published('default'));
    link.cut();
    await client.of(ConfigMap).in('default').delete('kube-root-ca.crt');
    await client.of(Namespace).create({ metadata: { name: 'meanwhile' } });
    await clock.advance(60_000);
    expect((await find('default')).items).toEqual([]);
    link.mend();
    await clock.advance(60_000);
    await cluster.eventually(published('default'));
    await cluster.eventually(published('meanwhile'));
    await ready('meanwhile');
  });
});
