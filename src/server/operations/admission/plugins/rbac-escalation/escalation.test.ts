import { beforeEach, describe, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../../test/support/server.ts';
import type { User } from '../../../../../api/user.ts';
import { ClusterRole } from '../../../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { Role } from '../../../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../../../kinds/groups/access/rbac/role-binding.ts';
import { Namespace } from '../../../../../kinds/groups/core/namespace.ts';

const GROUP = 'rbac.authorization.k8s.io';
const kinds = [Namespace, Role, ClusterRole, RoleBinding, ClusterRoleBinding];
const ann: User = { name: 'ann', groups: ['dev'] };
const local: any = { apiVersion: `${GROUP}/v1`, user: ann };
const cluster: any = { ...local, namespace: undefined };
const master: any = { apiVersion: `${GROUP}/v1` };
const clusterMaster: any = { ...master, namespace: undefined };

let api: TestServer;
const named = (name: string) => ({ metadata: { name } });
const rule = (resource: string, ...verbs: string[]) => ({ verbs, apiGroups: [''], resources: [resource] });
const roleRef = (kind: string, name: string) => ({ apiGroup: GROUP, kind, name });
const subjects = [{ kind: 'User', name: 'ann' }];
const forbidden = (message: string) => ({ code: 403, message: expect.stringContaining(message) });

/** Grants ann permissions, by a role in her namespace or everywhere. */
async function give(name: string, rules: object[], where: 'here' | 'everywhere' = 'here') {
  await api.create('clusterroles', { ...named(name), rules }, clusterMaster);
  const binding = { ...named(name), roleRef: roleRef('ClusterRole', name), subjects };
  if (where === 'here') await api.create('rolebindings', binding, master);
  else await api.create('clusterrolebindings', binding, clusterMaster);
}

beforeEach(async () => {
  api = await testServer(kinds, { authorization: ['RBAC'] });
  await give('reader', [rule('pods', 'get', 'list')]);
});

describe('a role', () => {
  it('can be written with exactly the permissions that the writer has', async () => {
    await api.create('roles', { ...named('fine'), rules: [rule('pods', 'get')] }, local);
    await expect(
      api.create('roles', { ...named('bad'), rules: [rule('pods', 'get', 'delete'), rule('secrets', 'get')] }, local),
    ).rejects.toMatchObject({
      code: 403,
      message:
        'roles.rbac.authorization.k8s.io "bad" is forbidden: user "ann" (groups=["dev"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    });
    const grown = { rules: [rule('pods', 'get'), rule('pods', 'delete')] };
    await expect(api.patch('roles', 'fine', grown, local)).rejects.toMatchObject(forbidden('Verbs:["delete"]'));
    const { metadata } = await api.get('roles', 'fine', local);
    await expect(
      api.update('roles', { metadata, rules: [rule('*', '*')] }, { ...local, name: 'fine' }),
    ).rejects.toMatchObject(forbidden('Verbs:["*"]'));
  });

  it('is invalid with a rule without verbs, whoever writes it', async () => {
    const rules = [{ apiGroups: [''], resources: ['pods'] }, { nonResourceURLs: ['/a'] }, {}];
    await expect(api.create('roles', { ...named('none'), rules }, local)).rejects.toMatchObject({ code: 422 });
  });

  it('needs permissions everywhere if it is a cluster role', async () => {
    await expect(
      api.create('clusterroles', { ...named('c'), rules: [rule('pods', 'get')] }, cluster),
    ).rejects.toMatchObject(forbidden('not currently held'));
    await give('everywhere', [rule('pods', 'get')], 'everywhere');
    await api.create('clusterroles', { ...named('c'), rules: [rule('pods', 'get')] }, cluster);
  });

  it('can be written by a user who may escalate it', async () => {
    await give('escalator', [{ verbs: ['escalate'], apiGroups: [GROUP], resources: ['roles'] }]);
    const role = await api.create('roles', { ...named('big'), rules: [rule('*', '*')] }, local);
    expect(role.rules).toEqual([rule('*', '*')]);
  });

  it('can be aggregated only by a user who may do everything', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    await expect(api.create('clusterroles', { ...named('g'), aggregationRule }, cluster)).rejects.toMatchObject(
      forbidden('must have cluster-admin privileges to use the aggregationRule'),
    );
    await api.create('clusterroles', { ...named('g'), aggregationRule }, clusterMaster);
    await expect(api.patch('clusterroles', 'g', { metadata: { labels: { x: 'y' } } }, cluster)).rejects.toMatchObject(
      forbidden('must have cluster-admin privileges'),
    );
  });

  it('can lose a finalizer whatever its rules are', async () => {
    const metadata = { name: 'held', finalizers: ['example.com/a', 'example.com/b'] };
    await api.create('roles', { metadata, rules: [rule('*', '*')] }, master);
    await api.patch('roles', 'held', { metadata: { finalizers: ['example.com/b'] } }, local);
    await expect(api.patch('roles', 'held', { metadata: { labels: { a: 'b' } } }, local)).rejects.toMatchObject({
      code: 403,
    });
  });
});

describe('a binding', () => {
  it('can be created for a role whose permissions the user has', async () => {
    await api.create('rolebindings', { ...named('b'), roleRef: roleRef('ClusterRole', 'reader'), subjects }, local);
    await api.create('clusterroles', { ...named('strong'), rules: [rule('secrets', '*')] }, clusterMaster);
    const body = { ...named('c'), roleRef: roleRef('ClusterRole', 'strong'), subjects };
    await expect(api.create('rolebindings', body, local)).rejects.toMatchObject(forbidden('not currently held'));
    await expect(
      api.create('clusterrolebindings', { ...body, roleRef: roleRef('ClusterRole', 'reader') }, cluster),
    ).rejects.toMatchObject(forbidden('not currently held'));
  });

  it('cannot gain a role or subjects by an update either', async () => {
    await api.create('clusterroles', { ...named('strong'), rules: [rule('secrets', '*')] }, clusterMaster);
    const body = { ...named('c'), roleRef: roleRef('ClusterRole', 'strong') };
    await expect(api.update('rolebindings', { ...body, subjects }, local)).rejects.toMatchObject(
      forbidden('cannot create resource "rolebindings"'),
    );
    await give('maker', [{ verbs: ['create', 'update'], apiGroups: [GROUP], resources: ['rolebindings'] }]);
    await expect(api.update('rolebindings', { ...body, subjects }, local)).rejects.toMatchObject(
      forbidden('not currently held'),
    );
    await api.create('rolebindings', body, master);
    await expect(api.patch('rolebindings', 'c', { subjects }, local)).rejects.toMatchObject({ code: 403 });
  });

  it('can be created by a user who may bind the role, and only for that role', async () => {
    await api.create('clusterroles', { ...named('strong'), rules: [rule('secrets', '*')] }, clusterMaster);
    await api.create('clusterroles', { ...named('other'), rules: [rule('secrets', '*')] }, clusterMaster);
    const bind = { verbs: ['bind'], apiGroups: [GROUP], resources: ['clusterroles'], resourceNames: ['strong'] };
    await give('binder', [bind]);
    const joe = [{ kind: 'User', name: 'joe' }];
    await api.create(
      'rolebindings',
      { ...named('b'), roleRef: roleRef('ClusterRole', 'strong'), subjects: joe },
      local,
    );
    await expect(
      api.create('rolebindings', { ...named('c'), roleRef: roleRef('ClusterRole', 'other'), subjects: joe }, local),
    ).rejects.toMatchObject({ code: 403 });
  });

  it('needs all permissions when its role does not exist', async () => {
    const body = { ...named('b'), roleRef: roleRef('Role', 'gone'), subjects };
    await expect(api.create('rolebindings', body, local)).rejects.toMatchObject({
      code: 404,
      message: 'role.rbac.authorization.k8s.io "gone" not found',
    });
    await api.create('rolebindings', body, master);
  });

  it('cannot change its role', async () => {
    await api.create('rolebindings', { ...named('b'), roleRef: roleRef('ClusterRole', 'reader') }, master);
    await expect(
      api.patch('rolebindings', 'b', { roleRef: roleRef('ClusterRole', 'other') }, master),
    ).rejects.toMatchObject({ code: 422, message: expect.stringContaining('cannot change roleRef') });
  });
});

it('escalation is not checked with AlwaysAllow', async () => {
  const open = await testServer(kinds);
  const role = await open.create('roles', { ...named('big'), rules: [rule('*', '*')] }, local);
  expect(role.rules).toEqual([rule('*', '*')]);
});
