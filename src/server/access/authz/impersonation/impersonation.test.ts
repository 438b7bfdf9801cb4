import { describe, expect, it } from 'vitest';
import type { User } from '../../../../api/user.ts';
import type { Attributes, Authorizer } from '../authorizer.ts';
import { constraintOn, Impersonation } from './impersonation.ts';
import { requestedUser } from './requested-user.ts';

const ann: User = { name: 'ann', groups: ['dev'] };
const agent: User = {
  name: 'system:serviceaccount:kube-system:agent',
  groups: ['system:serviceaccounts'],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/pod-name': ['p'] },
};
const listing = {
  ...{ verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'default', name: '' },
};

/** Formats attributes as `verb group/resource[/subresource] [namespace/]name`. */
function spelt(asked: Attributes): string {
  if (asked.path !== undefined) return `${asked.verb} ${asked.path}`;
  const { verb, group, resource, subresource, namespace, name } = asked;
  const what = `${group ? `${group}/` : ''}${resource}${subresource ? `/${subresource}` : ''}`;
  return `${verb} ${what} ${namespace ? `${namespace}/` : ''}${name}`.trim();
}

/** A sender with the rights that the test names. */
function having(...rights: string[]) {
  const asked: string[] = [];
  const users: User[] = [];
  const authorizer: Authorizer = {
    authorize(attributes) {
      asked.push(spelt(attributes));
      users.push(attributes.user);
      return { verdict: rights.includes(spelt(attributes)) ? 'allow' : 'noOpinion', reason: '' };
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
  const impersonation = new Impersonation(authorizer);
  const as = (headers: Record<string, string>, user = ann, request: object = listing) =>
    impersonation.userFor(requestedUser(headers)!, { ...request, user } as Attributes);
  return { as, asked, users, impersonation };
}

const ID = 'authentication.k8s.io';
const joe = { 'impersonate-user': 'joe' };

it('impersonation is requested by headers', () => {
  expect(requestedUser({ accept: '*/*', 'if-match': 'x' })).toBeUndefined();
  expect(requestedUser({ 'impersonate-user': '' })).toBeUndefined();
});

describe('in legacy mode', () => {
  it('checks every part of the requested user', async () => {
    const { as, asked } = having(
      'impersonate users joe',
      'impersonate groups a',
      'impersonate groups b',
      `impersonate ${ID}/uids 7`,
      `impersonate ${ID}/userextras/scopes x`,
      `impersonate ${ID}/userextras/a/b y`,
    );
    const user = await as({
      ...joe,
      'impersonate-group': 'a, b',
      'impersonate-uid': '7',
      'impersonate-extra-scopes': 'x',
      'impersonate-extra-a%2fb': 'y',
    });
    expect(user).toEqual({
      name: 'joe',
      uid: '7',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { scopes: ['x'], 'a/b': ['y'] },
    });
    expect(constraintOn(user)).toBeUndefined();
    expect(asked).toEqual([
      'impersonate-on:user-info:list pods default/',
      'impersonate users joe',
      `impersonate ${ID}/uids 7`,
      'impersonate groups a',
      'impersonate groups b',
      `impersonate ${ID}/userextras/scopes x`,
      `impersonate ${ID}/userextras/a/b y`,
    ]);
  });

  it.each<[string, string[], string[]]>([
    ['joe', [], ['system:authenticated']],
    ['joe', ['system:unauthenticated'], ['system:unauthenticated']],
    ['joe', ['system:authenticated', 'a'], ['system:authenticated', 'a']],
    ['system:anonymous', [], ['system:unauthenticated']],
    ['system:node:n1', [], ['system:authenticated']],
    [
      'system:serviceaccount:ns:robot',
      [],
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
    ['system:serviceaccount:ns:robot', ['a'], ['a', 'system:authenticated']],
  ])('derives the groups of %s with %j as %j', async (name, named, groups) => {
    const [, , namespace, account] = name.split(':');
    const who = account ? `impersonate serviceaccounts ${namespace}/${account}` : `impersonate users ${name}`;
    const { as } = having(who, ...named.map((group) => `impersonate groups ${group}`));
    const headers = { 'impersonate-user': name, ...(named.length ? { 'impersonate-group': named.join(', ') } : {}) };
    expect((await as(headers)).groups).toEqual(groups);
  });

  it('treats only valid names as service accounts', async () => {
    const { as, asked } = having('impersonate users system:serviceaccount:Ns:robot');
    await as({ 'impersonate-user': 'system:serviceaccount:Ns:robot' });
    expect(asked).toContain('impersonate users system:serviceaccount:Ns:robot');
  });
});

describe('in a constrained mode', () => {
  it('impersonates a user if the sender may impersonate them and perform the request as them', async () => {
    const { as, asked } = having(
      'impersonate-on:user-info:list pods default/',
      `impersonate:user-info ${ID}/users joe`,
    );
    const user = await as(joe);
    expect(user).toEqual({ name: 'joe', groups: ['system:authenticated'] });
    expect(constraintOn(user)).toBe('impersonate:user-info');
    expect(asked).toHaveLength(2);
    await expect(as(joe, ann, { ...listing, verb: 'get', name: 'p' })).rejects.toMatchObject({
      code: 403,
      message:
        'pods "p" is forbidden: User "ann" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "default"',
    });
  });

  it('impersonates a service account, with its groups', async () => {
    const { as } = having(
      'impersonate-on:serviceaccount:list pods default/',
      `impersonate:serviceaccount ${ID}/serviceaccounts ns/robot`,
    );
    const user = await as({ 'impersonate-user': 'system:serviceaccount:ns:robot' });
    expect(user.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated']);
    expect(constraintOn(user)).toBe('impersonate:serviceaccount');
  });

  it('impersonates a node', async () => {
    const { as } = having(
      'impersonate-on:arbitrary-node:list pods default/',
      `impersonate:arbitrary-node ${ID}/nodes n1`,
    );
    const user = await as({ 'impersonate-user': 'system:node:n1' });
    expect(user).toEqual({ name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] });
    expect(constraintOn(user)).toBe('impersonate:arbitrary-node');
    await expect(as({ 'impersonate-user': 'system:node:n2' })).rejects.toMatchObject({
      message:
        'nodes.authentication.k8s.io "n2" is forbidden: User "ann" cannot impersonate:arbitrary-node resource "nodes" in API group "authentication.k8s.io" at the cluster scope',
    });
  });

  it('impersonates the node that the sender runs on, with a permission that names none', async () => {
    const rights = ['impersonate-on:associated-node:list pods default/', `impersonate:associated-node ${ID}/nodes *`];
    const { as, users } = having(...rights);
    const user = await as({ 'impersonate-user': 'system:node:n1' }, agent);
    expect(user).toEqual({ name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] });
    expect(constraintOn(user)).toBe('impersonate:associated-node');
    for (const { extra } of users) {
      expect(extra).toEqual({
        'authentication.kubernetes.io/associated-node-keys': [
          'authentication.kubernetes.io/node-name',
          'authentication.kubernetes.io/pod-name',
        ],
      });
    }
  });

  it.each<[string, User, Record<string, string>]>([
    ['another node', agent, { 'impersonate-user': 'system:node:n2' }],
    ['a node and a group', agent, { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'g' }],
    ['a node, being no account', { ...agent, name: 'ann' }, { 'impersonate-user': 'system:node:n1' }],
    ['a node, of a token for none', { ...agent, extra: {} }, { 'impersonate-user': 'system:node:n1' }],
  ])('does not let an account act as %s', async (_what, sender, headers) => {
    const rights = ['impersonate-on:associated-node:list pods default/', `impersonate:associated-node ${ID}/nodes *`];
    const { as, asked } = having(...rights);
    await expect(as(headers, sender)).rejects.toMatchObject({ code: 403 });
    expect(asked.join()).not.toContain('associated-node');
  });

  const doing = 'impersonate-on:user-info:list pods default/';
  const being = `impersonate:user-info ${ID}/users joe`;

  it.each<[Record<string, string>, string, string]>([
    [
      { 'impersonate-group': 'system:masters' },
      'groups.authentication.k8s.io "system:masters" is',
      'the system:masters group',
    ],
    [{ 'impersonate-group': '' }, 'groups.authentication.k8s.io is', 'the empty string group'],
    [{ 'impersonate-extra-scopes': 'x' }, 'userextras.authentication.k8s.io is', 'an invalid key in extra'],
    [
      { 'impersonate-extra-acme.io%2fScopes': '' },
      'userextras.authentication.k8s.io is',
      'the empty string value in extra',
    ],
  ])('rejects %j, whatever the permissions', async (headers, start, what) => {
    const { as } = having(doing, being, `impersonate:user-info ${ID}/groups system:masters`);
    const lower = Object.fromEntries(
      Object.entries({ ...joe, ...headers }).map(([key, value]) => [key.toLowerCase(), value]),
    );
    await expect(as(lower)).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^${start.replaceAll('.', '\\.')} forbidden: .*: impersonating ${what} is not allowed`),
      ),
    });
  });

  it('explains what is wrong with a key', async () => {
    await expect(having(doing, being).as({ ...joe, 'impersonate-extra-scopes': 'x' })).rejects.toMatchObject({
      message: expect.stringContaining(
        'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
      ),
    });
  });

  it('checks the permission for all groups and all extra values first if there are many', async () => {
    const many = { ...joe, 'impersonate-group': 'a, b, c, d', 'impersonate-extra-acme.io%2fs': 'a, b, c, d' };
    const star = having(
      doing,
      being,
      `impersonate:user-info ${ID}/groups *`,
      `impersonate:user-info ${ID}/userextras/* *`,
    );
    expect((await star.as(many)).groups).toEqual(['a', 'b', 'c', 'd', 'system:authenticated']);
    expect(star.asked).toHaveLength(4);
    const each = having(
      ...[doing, being],
      ...['a', 'b', 'c', 'd'].flatMap((name) => [
        `impersonate:user-info ${ID}/groups ${name}`,
        `impersonate:user-info ${ID}/userextras/acme.io/s ${name}`,
      ]),
    );
    expect(constraintOn(await each.as(many))).toBe('impersonate:user-info');
    expect(each.asked).toHaveLength(12);
  });

  it('checks non-resource paths', async () => {
    const { as } = having('impersonate-on:user-info:get /metrics', being);
    expect((await as(joe, ann, { verb: 'get', path: '/metrics' })).name).toBe('joe');
    await expect(as(joe, ann, { verb: 'get', path: '/logs' })).rejects.toMatchObject({
      message: 'forbidden: User "ann" cannot impersonate-on:user-info:get path "/logs"',
    });
  });
});

it('rejects with the error of the mode tried first, which is the one that succeeded last', async () => {
  const { as, impersonation } = having('impersonate users joe');
  const rejectedAt = async (headers: Record<string, string>) => {
    const outcome = await as(headers).catch((error: Error) => error);
    return outcome instanceof Error ? outcome.message : 'it was not rejected';
  };
  expect(await rejectedAt({ 'impersonate-user': 'bob' })).toContain(
    'cannot impersonate-on:user-info:list resource "pods"',
  );
  await as(joe);
  expect(await rejectedAt({ 'impersonate-user': 'bob' })).toBe(
    'users "bob" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
  expect([...impersonation.lines()]).toEqual(
    expect.arrayContaining([
      'apiserver_impersonation_attempts_total{decision="denied",mode=""} 2',
      'apiserver_impersonation_attempts_total{decision="allowed",mode="legacy"} 1',
      'apiserver_impersonation_authorization_attempts_total{decision="denied",mode="user-info"} 3',
    ]),
  );
});

it.each<[Record<string, string>, string]>([
  [{ 'impersonate-group': 'a' }, 'UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)'],
  [{ 'impersonate-uid': '7' }, 'UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)'],
  [{ 'impersonate-extra-x': 'y' }, 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"x":{"y"}}'],
])('impersonation is not requested without a user: %j', (headers, words) => {
  expect(() => requestedUser(headers)).toThrow(
    `requested &user.DefaultInfo{Name:"", ${words}} without impersonating a user name`,
  );
});
