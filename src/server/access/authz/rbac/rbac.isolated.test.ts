import { beforeEach, describe, expect, it } from 'vitest';
import { heapUsed } from '../../../../../test/support/heap.ts';
import { fc, forAllAsync } from '../../../../../test/support/property-runs.ts';
import { type TestServer, testServer } from '../../../../../test/support/server.ts';
import type { User } from '../../../../api/user.ts';
import { ClusterRole } from '../../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import { Role } from '../../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../../kinds/groups/access/rbac/role-binding.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import type { Attributes, Decision, ResourceAttributes } from '../authorizer.ts';

const kinds = [Namespace, Role, ClusterRole, RoleBinding, ClusterRoleBinding];
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const cluster: any = { ...rbac, namespace: undefined };

let api: TestServer;
beforeEach(async () => {
  api = await testServer(kinds, { authorization: ['RBAC'] });
});

const ann: User = { name: 'ann', groups: ['dev'] };
const decide = (attributes: Attributes) => api.server.authorizer.authorize(attributes) as Decision;
const asks = (
  user: User,
  verb: string,
  resource: string,
  more: Partial<ResourceAttributes> = {},
): ResourceAttributes => ({
  ...{ user, verb, group: '', version: 'v1', resource, subresource: '', namespace: 'default', name: '' },
  ...more,
});
const may = (...asked: Parameters<typeof asks>) => decide(asks(...asked)).verdict === 'allow';
const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });

const pods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] };

describe('a binding', () => {
  beforeEach(() => api.create('roles', { metadata: { name: 'reader' }, rules: [pods] }, rbac));

  it('grants nothing when it cannot be decoded, and does not affect others', async () => {
    const bind = (name: string, user: string) => {
      const subjects = [{ kind: 'User', name: user }];
      return api.create('rolebindings', { metadata: { name }, roleRef: roleRef('Role', 'reader'), subjects }, rbac);
    };
    for (const name of ['ann', 'joe']) await bind(name, name);
    const key = '/registry/rbac.authorization.k8s.io/rolebindings/default';
    expect(may(ann, 'get', 'pods')).toBe(true);
    await api.store.commit([{ key: `${key}/ann`, value: Buffer.from('rubbish') }]);
    expect(may(ann, 'get', 'pods')).toBe(false);
    expect(may({ name: 'joe', groups: [] }, 'get', 'pods')).toBe(true);
    const again = await testServer(kinds, { authorization: ['RBAC'], store: api.store });
    const joe = asks({ name: 'joe', groups: [] }, 'get', 'pods');
    expect(((await again.server.authorizer.authorize(joe)) as Decision).verdict).toBe('allow');
  });

  it('takes effect when it is written, and ends when it is deleted', async () => {
    expect(may(ann, 'get', 'pods')).toBe(false);
    const subjects = [{ kind: 'User', name: 'ann' }];
    await api.create('rolebindings', { metadata: { name: 'b' }, roleRef: roleRef('Role', 'reader'), subjects }, rbac);
    expect(may(ann, 'get', 'pods')).toBe(true);
    expect(may(ann, 'get', 'pods', { namespace: 'kube-system' })).toBe(false);
    expect(may(ann, 'get', 'pods', { namespace: '' })).toBe(false);
    await api.patch('rolebindings', 'b', { subjects: [{ kind: 'User', name: 'joe' }] }, rbac);
    expect(may(ann, 'get', 'pods')).toBe(false);
    expect(may({ name: 'joe', groups: [] }, 'get', 'pods')).toBe(true);
    await api.delete('rolebindings', 'b', rbac);
    expect(may({ name: 'joe', groups: [] }, 'get', 'pods')).toBe(false);
  });

  it('applies to groups, and to service accounts of its own namespace', async () => {
    const subjects = [
      { kind: 'Group', name: 'dev' },
      { kind: 'ServiceAccount', name: 'robot' },
      { kind: 'ServiceAccount', name: 'other', namespace: 'kube-system' },
    ];
    await api.create('rolebindings', { metadata: { name: 'b' }, roleRef: roleRef('Role', 'reader'), subjects }, rbac);
    const account = (name: string): User => ({ name: `system:serviceaccount:${name}`, groups: [] });
    expect(may(ann, 'get', 'pods')).toBe(true);
    expect(may(account('default:robot'), 'get', 'pods')).toBe(true);
    expect(may(account('kube-system:robot'), 'get', 'pods')).toBe(false);
    expect(may(account('kube-system:other'), 'get', 'pods')).toBe(true);
    expect(decide(asks(ann, 'get', 'pods')).reason).toBe(
      'RBAC: allowed by RoleBinding "b/default" of Role "reader" to Group "dev"',
    );
    expect(decide(asks(account('default:robot'), 'get', 'pods')).reason).toContain('to ServiceAccount "robot/default"');
  });

  it('allows nothing and reports it when its role is missing; the role takes effect once it exists', async () => {
    const subjects = [{ kind: 'User', name: 'ann' }];
    const body = { metadata: { name: 'b' }, roleRef: roleRef('ClusterRole', 'late'), subjects };
    await api.create('clusterrolebindings', body, cluster);
    expect(decide(asks(ann, 'get', 'nodes'))).toEqual({
      verdict: 'noOpinion',
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "late" not found',
    });
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }];
    await api.create('clusterroles', { metadata: { name: 'late' }, rules }, cluster);
    expect(may(ann, 'get', 'nodes')).toBe(true);
    await api.patch('clusterroles', 'late', { rules: [] }, cluster);
    expect(may(ann, 'get', 'nodes')).toBe(false);
  });
});

it('lists all rules that apply in a namespace', async () => {
  const subjects = [{ kind: 'User', name: 'ann' }];
  await api.create('roles', { metadata: { name: 'reader' }, rules: [pods] }, rbac);
  await api.create('rolebindings', { metadata: { name: 'b' }, roleRef: roleRef('Role', 'reader'), subjects }, rbac);
  const rules = [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }];
  await api.create('clusterroles', { metadata: { name: 'health' }, rules }, cluster);
  const body = { metadata: { name: 'c' }, roleRef: roleRef('ClusterRole', 'health'), subjects };
  await api.create('clusterrolebindings', body, cluster);
  expect(api.server.authorizer.rulesFor(ann, 'default')).toEqual({
    resourceRules: [pods],
    nonResourceRules: rules,
    incomplete: false,
  });
  expect(api.server.authorizer.rulesFor(ann, 'kube-system').resourceRules).toEqual([]);
});

it('lets masters do everything, whatever the roles are', () => {
  const master = { name: 'root', groups: ['system:masters'] };
  expect(may(master, 'delete', 'nodes')).toBe(true);
  expect(decide({ user: master, verb: 'get', path: '/secret' }).verdict).toBe('allow');
});

describe('the cache of decisions is limited in bytes', () => {
  const LONG = 500_000;
  const long = (i: number) => `/${i}${'x'.repeat(LONG)}`;

  it.each<[string, (i: number) => Attributes]>([
    ['long paths', (i) => ({ user: ann, verb: 'get', path: long(i) })],
    ['long verbs of paths', (i) => ({ user: ann, verb: long(i), path: '/a' })],
    ['long resources', (i) => asks(ann, 'get', long(i))],
    ['long verbs', (i) => asks(ann, long(i), 'pods')],
    ['long groups', (i) => asks(ann, 'get', 'pods', { group: long(i) })],
    ['long subresources', (i) => asks(ann, 'get', 'pods', { subresource: long(i) })],
    ['long users', (i) => asks({ name: long(i), groups: [] }, 'get', 'pods')],
    ['many groups of users', (i) => asks({ name: 'joe', groups: long(i).match(/.{1,10}/g)! }, 'get', 'pods')],
    ['parts of long texts', (i) => asks(ann, long(i).slice(0, 20), 'pods')],
  ])('for %s', async (_, attributesOf) => {
    decide(attributesOf(0));
    const before = heapUsed();
    for (let i = 1; i <= 150; i++) expect(decide(attributesOf(i)).verdict).toBe('noOpinion');
    expect(heapUsed() - before).toBeLessThan(30_000_000);
  });

  it('for many short reviews', { timeout: 60_000 }, () => {
    const before = heapUsed();
    for (let i = 0; i < 100_000; i++) decide(asks({ name: `user-${i % 100}`, groups: [] }, `verb-${i}`, 'pods'));
    expect(heapUsed() - before).toBeLessThan(40_000_000);
  });

  it('for roles that list many names', async () => {
    const names = (from: number) => Array.from({ length: 10_000 }, (_, i) => `name-${from + i}`);
    const rule = { verbs: ['*'], apiGroups: [''], resources: ['pods'] };
    const rules = [0, 10_000].map((from) => ({ ...rule, resourceNames: names(from) }));
    await api.create('clusterroles', { metadata: { name: 'names' }, rules }, cluster);
    const subjects = [{ kind: 'User', name: 'ann' }];
    const binding = { metadata: { name: 'names' }, roleRef: roleRef('ClusterRole', 'names'), subjects };
    await api.create('clusterrolebindings', binding, cluster);
    const before = heapUsed();
    for (let i = 0; i < 100; i++) expect(may(ann, `verb-${i}`, 'pods', { name: 'name-19999' })).toBe(true);
    expect(heapUsed() - before).toBeLessThan(40_000_000);
  });
});

/** A reference implementation that evaluates every rule of every binding. */
function naively(world: World, { user, ...asked }: Attributes): boolean {
  const namespace = 'namespace' in asked ? asked.namespace : '';
  const names = (subject: any, home: string) =>
    subject.kind === 'User'
      ? subject.name === user.name
      : subject.kind === 'Group'
        ? user.groups.includes(subject.name)
        : user.name === `system:serviceaccount:${subject.namespace ?? home}:${subject.name}`;
  const rules = world.bindings
    .filter((each) => each.namespace === '' || each.namespace === namespace)
    .filter((each) => each.subjects.some((subject) => names(subject, each.namespace)))
    .flatMap((each) => world.roles.find((role) => role.name === each.role && fits(role, each))?.rules ?? []);
  return rules.some((rule) => allows(rule, asked as never));
}

const fits = (role: World['roles'][number], binding: World['bindings'][number]) =>
  binding.kind === 'ClusterRole' ? role.namespace === '' : role.namespace === binding.namespace;

function allows(rule: PolicyRule, asked: any): boolean {
  const has = (list: readonly string[] | undefined, ...wanted: string[]) => wanted.some((each) => list?.includes(each));
  if (!has(rule.verbs, '*', asked.verb)) return false;
  if (asked.path !== undefined) {
    return (rule.nonResourceURLs ?? []).some((url) =>
      url.endsWith('*') ? asked.path.startsWith(url.slice(0, -1)) : url === asked.path,
    );
  }
  const { resource, subresource, name } = asked;
  const wanted = subresource ? [`${resource}/${subresource}`, `*/${subresource}`] : [resource];
  if (!has(rule.apiGroups, '*', asked.group) || !has(rule.resources, '*', ...wanted)) return false;
  return !rule.resourceNames?.length || rule.resourceNames.includes(name);
}

interface World {
  readonly roles: { readonly name: string; readonly namespace: string; readonly rules: PolicyRule[] }[];
  readonly bindings: {
    readonly namespace: string;
    readonly kind: 'Role' | 'ClusterRole';
    readonly role: string;
    readonly subjects: any[];
  }[];
}

const some = (...values: string[]) => fc.subarray(values, { minLength: 1, maxLength: 2 });
const resourceRule = fc.record(
  {
    verbs: some('get', 'list', '*'),
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/log', '*/scale', 'deployments/scale', '*', 'log'),
    resourceNames: some('a', 'b'),
  },
  { requiredKeys: ['verbs', 'apiGroups', 'resources'] },
);
const pathRule = fc.record({ verbs: some('get', 'post', '*'), nonResourceURLs: some('/a', '/a/*', '/a*', '*', '/b') });
const roles = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('x', 'y'),
    namespace: fc.constantFrom('', 'default', 'kube-system'),
    rules: fc.array(resourceRule, { maxLength: 2 }),
    paths: fc.array(pathRule, { maxLength: 1 }),
  }),
  { selector: ({ name, namespace }) => `${namespace}/${name}`, maxLength: 5 },
);
const subject = fc.constantFrom(
  { kind: 'User', name: 'ann' },
  { kind: 'User', name: 'system:serviceaccount:default:robot' },
  { kind: 'Group', name: 'dev' },
  { kind: 'Group', name: 'ops' },
  { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
);
const bindings = fc.array(
  fc.record({
    namespace: fc.constantFrom('', 'default', 'kube-system'),
    kind: fc.constantFrom('Role' as const, 'ClusterRole' as const),
    role: fc.constantFrom('x', 'y'),
    subjects: fc.array(subject, { maxLength: 3 }),
  }),
  { maxLength: 5 },
);
const user = fc.constantFrom<User>(
  ann,
  { name: 'joe', groups: ['dev', 'ops'] },
  { name: 'system:serviceaccount:default:robot', groups: [] },
);
const question = fc.oneof(
  fc.record({
    user,
    verb: fc.constantFrom('get', 'list', 'delete', '*'),
    group: fc.constantFrom('', 'apps', 'batch'),
    version: fc.constant('v1'),
    resource: fc.constantFrom('pods', 'deployments', 'log'),
    subresource: fc.constantFrom('', 'log', 'scale'),
    namespace: fc.constantFrom('', 'default', 'kube-system'),
    name: fc.constantFrom('', 'a', 'c'),
  }),
  fc.record({ user, verb: fc.constantFrom('get', 'post'), path: fc.constantFrom('/', '/a', '/a/b', '/ab', '/b/') }),
);

it('decisions equal those of a naive evaluator, before and after changes', { timeout: 60_000 }, async () => {
  await forAllAsync(
    { numRuns: 60 },
    roles,
    bindings,
    fc.array(question, { minLength: 5, maxLength: 30 }),
    async (made, given, asked) => {
      api = await testServer(kinds, { authorization: ['RBAC'] });
      const world: World = {
        roles: made.map(({ paths, ...role }) => ({
          ...role,
          rules: [...role.rules, ...(role.namespace ? [] : paths)],
        })),
        bindings: [],
      };
      const agree = () => {
        for (const each of asked) {
          expect(decide(each).verdict, JSON.stringify(each)).toBe(naively(world, each) ? 'allow' : 'noOpinion');
        }
      };
      for (const { name, namespace, rules } of world.roles) {
        const plural = namespace ? 'roles' : 'clusterroles';
        await api.create(plural, { metadata: { name }, rules }, namespace ? { ...rbac, namespace } : cluster);
      }
      agree();
      const valid = given.filter(({ namespace, kind }) => namespace !== '' || kind === 'ClusterRole');
      for (const [index, binding] of valid.entries()) {
        const { namespace, kind, role, subjects } = binding;
        const body = { metadata: { name: `b${index}` }, roleRef: roleRef(kind, role), subjects };
        const plural = namespace ? 'rolebindings' : 'clusterrolebindings';
        await api.create(plural, body, namespace ? { ...rbac, namespace } : cluster);
        world.bindings.push(binding);
        agree();
      }
      const [first] = valid;
      if (!first) return;
      const place = first.namespace ? { ...rbac, namespace: first.namespace } : cluster;
      await api.delete(first.namespace ? 'rolebindings' : 'clusterrolebindings', 'b0', place);
      world.bindings.shift();
      agree();
    },
  );
});
