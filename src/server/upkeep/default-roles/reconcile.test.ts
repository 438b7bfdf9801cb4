import { describe, expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { ClusterRole } from '../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { Role } from '../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/access/rbac/role-binding.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { defaultPolicy } from '../../access/authz/rbac/policy/policy.ts';
import { checkContent } from '../../objects/body/check.ts';

const kinds = [Namespace, Role, ClusterRole, RoleBinding, ClusterRoleBinding];
const cluster: any = { apiVersion: 'rbac.authorization.k8s.io/v1', namespace: undefined };
const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const start = () => testServer(kinds, { authorization: ['RBAC'], defaultRoles: true });
/** Another server on the same store. */
const again = ({ store, clock }: Awaited<ReturnType<typeof start>>) =>
  testServer(kinds, { authorization: ['RBAC'], defaultRoles: true, store, clock });

describe('the default roles', () => {
  it('exist after the first start, and are not written at the second', async () => {
    const api = await start();
    const { items } = await api.list('clusterroles', cluster);
    const policy = defaultPolicy();
    expect(items).toHaveLength(policy.clusterRoles.length);
    const revision = await api.store.revision();
    await again(api);
    expect(await api.store.revision()).toBe(revision);
  });

  it('are valid', () => {
    const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultPolicy();
    const all: [any, readonly any[]][] = [
      [ClusterRole, clusterRoles],
      [ClusterRoleBinding, clusterRoleBindings],
      [Role, roles],
      [RoleBinding, roleBindings],
    ];
    for (const [kind, objects] of all) {
      const { apiVersion } = kind.hub;
      for (const object of objects) {
        const written = { kind: kind.kind, ...object };
        const check = () => checkContent(kind, written, { old: undefined, subresource: undefined, apiVersion });
        expect(check).not.toThrow();
      }
    }
  });

  it('name every role that they bind', () => {
    const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultPolicy();
    const names = new Set(clusterRoles.map(({ metadata }) => metadata.name));
    for (const { roleRef } of clusterRoleBindings) expect(names).toContain(roleRef.name);
    const local = new Set(roles.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
    for (const { roleRef, metadata } of roleBindings) expect(local).toContain(`${metadata.namespace}/${roleRef.name}`);
  });

  it('aggregate view into edit and edit into admin', () => {
    const rules = (name: string) => defaultPolicy().clusterRoles.find(({ metadata }) => metadata.name === name)?.rules;
    for (const rule of rules('view') ?? []) expect(rules('edit')).toContainEqual(rule);
    for (const rule of rules('edit') ?? []) expect(rules('admin')).toContainEqual(rule);
    expect(rules('view')?.length).toBeGreaterThan(10);
  });
});

describe('a start', () => {
  it('adds missing rules, subjects, labels and selectors, and keeps additions', async () => {
    const api = await start();
    const extra = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
    await api.patch('clusterroles', 'system:basic-user', { metadata: { labels: null }, rules: [extra] }, cluster);
    const joe = { kind: 'User', name: 'joe' };
    await api.patch('clusterrolebindings', 'system:basic-user', { subjects: [joe] }, cluster);
    await api.delete('clusterroles', 'system:discovery', cluster);
    const next = await again(api);
    const role = await next.get('clusterroles', 'system:basic-user', cluster);
    expect(role.metadata.labels).toEqual({ 'kubernetes.io/bootstrapping': 'rbac-defaults' });
    expect(role.rules).toHaveLength(4);
    expect(role.rules[0]).toEqual(extra);
    const { subjects } = await next.get('clusterrolebindings', 'system:basic-user', cluster);
    expect(subjects.map(({ name }: any) => name)).toEqual(['joe', 'system:authenticated']);
    expect((await next.get('clusterroles', 'system:discovery', cluster)).rules).toHaveLength(1);
  });

  it('leaves objects with the annotation alone', async () => {
    const api = await start();
    const metadata = { annotations: { [AUTOUPDATE]: 'false' } };
    await api.patch('clusterroles', 'system:basic-user', { metadata, rules: [] }, cluster);
    const next = await again(api);
    expect((await next.get('clusterroles', 'system:basic-user', cluster)).rules).toEqual([]);
  });

  it('replaces a binding to another role', async () => {
    const api = await start();
    await api.delete('clusterrolebindings', 'system:discovery', cluster);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    await api.create('clusterrolebindings', { metadata: { name: 'system:discovery' }, roleRef }, cluster);
    const next = await again(api);
    const { roleRef: found } = await next.get('clusterrolebindings', 'system:discovery', cluster);
    expect(found.name).toBe('system:discovery');
  });

  it('checks everything again for another release', async () => {
    const api = await start();
    await api.patch('clusterroles', 'system:basic-user', { rules: [] }, cluster);
    // Simulates roles that an older program reconciled afterwards, with its own policy.
    await api.store.commit([{ key: '/quarterdeck/default-roles', value: Buffer.from('older') }]);
    const next = await again(api);
    expect((await next.get('clusterroles', 'system:basic-user', cluster)).rules).toHaveLength(3);
  });

  it('creates each object once for two concurrent servers', async () => {
    const first = await testServer(kinds);
    const { store, clock } = first;
    await Promise.all([again({ store, clock } as never), again({ store, clock } as never)]);
    const { items } = await first.list('clusterroles', cluster);
    expect(items).toHaveLength(defaultPolicy().clusterRoles.length);
  });
});
