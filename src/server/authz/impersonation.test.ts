import { describe, expect, it } from 'vitest';
import type { User } from '../api.ts';
import type { Attributes, Authorizer, ResourceAttributes } from './authorizer.ts';
import { Gate } from './gate.ts';

const ann: User = { name: 'ann', groups: ['dev'] };

/** May impersonate what the test names, as `resource[/subresource] name`. */
function gateFor(...allowed: string[]) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    authorize(attributes: Attributes) {
      const { verb, resource, subresource, namespace, name, group } = attributes as ResourceAttributes;
      const what = [subresource ? `${resource}/${subresource}` : resource, namespace ? `${namespace}/${name}` : name];
      expect(verb).toBe('impersonate');
      expect(group).toBe(resource === 'uids' || resource === 'userextras' ? 'authentication.k8s.io' : '');
      asked.push(what.join(' '));
      return { verdict: allowed.includes(what.join(' ')) ? 'allow' : 'noOpinion', reason: '' };
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  };
  return { gate: new Gate(authorizer), asked };
}

it('leaves the sender as he is where no header asks for another', () => {
  const { gate, asked } = gateFor();
  expect(gate.actingAs(ann, { accept: '*/*', 'if-match': 'x' })).toBe(ann);
  expect(asked).toEqual([]);
});

it('asks about every part of the other', async () => {
  const { gate, asked } = gateFor(
    'users joe',
    'groups a',
    'groups b',
    'uids 7',
    'userextras/scopes x',
    'userextras/a/b y',
  );
  const user = await gate.actingAs(ann, {
    'impersonate-user': 'joe',
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
  expect(asked).toHaveLength(6);
});

describe('the groups', () => {
  const groupsOf = async (name: string, ...groups: string[]) => {
    const account = name.split(':');
    const who = account[1] === 'serviceaccount' ? `serviceaccounts ${account[2]}/${account[3]}` : `users ${name}`;
    const { gate } = gateFor(who, ...groups.map((group) => `groups ${group}`));
    const headers = { 'impersonate-user': name, ...(groups.length ? { 'impersonate-group': groups.join(', ') } : {}) };
    return (await gate.actingAs(ann, headers)).groups;
  };

  it.each<[string, string[], string[]]>([
    ['joe', [], ['system:authenticated']],
    ['joe', ['system:unauthenticated'], ['system:unauthenticated']],
    ['joe', ['system:authenticated', 'a'], ['system:authenticated', 'a']],
    ['system:anonymous', [], ['system:unauthenticated']],
    [
      'system:serviceaccount:ns:robot',
      [],
      ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    ],
    ['system:serviceaccount:ns:robot', ['a'], ['a', 'system:authenticated']],
  ])('of %s with %j are %j', async (name, named, groups) => {
    expect(await groupsOf(name, ...named)).toEqual(groups);
  });
});

it('is refused where one part may not be', async () => {
  const { gate } = gateFor('users joe');
  await expect(
    gate.actingAs(ann, { 'impersonate-user': 'joe', 'impersonate-group': 'system:masters' }),
  ).rejects.toMatchObject({
    code: 403,
    message:
      'groups "system:masters" is forbidden: User "ann" cannot impersonate resource "groups" in API group "" at the cluster scope',
  });
  await expect(gate.actingAs(ann, { 'impersonate-user': 'system:serviceaccount:ns:robot' })).rejects.toMatchObject({
    message: expect.stringContaining(
      'cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
    ),
  });
});

it.each<[Record<string, string>]>([
  [{ 'impersonate-group': 'a' }],
  [{ 'impersonate-uid': '7' }],
  [{ 'impersonate-extra-x': 'y' }],
])('without a user is no request: %j', (headers) => {
  expect(() => gateFor().gate.actingAs(ann, headers)).toThrow('without impersonating a user');
});
