import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { allKinds } from '../../../kinds/all.ts';
import { Registry } from '../../objects/registry/registry.ts';
import { allSubresources } from '../../operations/subresources/all.ts';
import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';
import { Memo } from '../request-memos.ts';
import { Evaluator } from './evaluator.ts';
import { defaultPolicy, type Policy, type PolicyRule } from './policy.ts';

const joe = { name: 'joe', groups: ['developers', 'system:authenticated'] };
const node = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };

const asked = (more: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
  ...{ user: joe, verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'n', name: 'a' },
  ...more,
});

const levelOf = (policy: Policy, attributes: Attributes) => new Evaluator(policy).verdictOn(attributes).level;
const hits = (rule: Omit<PolicyRule, 'level'>, attributes: Attributes) =>
  levelOf({ rules: [{ level: 'Metadata', ...rule }] }, attributes) === 'Metadata';

describe('a rule', () => {
  it.each<[string, Omit<PolicyRule, 'level'>, boolean]>([
    ['of nothing', {}, true],
    ['of the user', { users: ['joe'] }, true],
    ['of another user', { users: ['bob'] }, false],
    ['of a group of his', { userGroups: ['x', 'developers'] }, true],
    ['of another group', { userGroups: ['x'] }, false],
    ['of the verb', { verbs: ['get'] }, true],
    ['of another verb', { verbs: ['list'] }, false],
    ['of the namespace', { namespaces: ['n'] }, true],
    ['of what has no namespace', { namespaces: [''] }, false],
    ['of the group', { resources: [{ group: '' }] }, true],
    ['of every group', { resources: [{ group: '*', resources: ['pods'] }] }, true],
    ['of another group of resources', { resources: [{ group: 'apps' }] }, false],
    ['of the resource', { resources: [{ resources: ['pods'] }] }, true],
    ['of a part of it', { resources: [{ resources: ['pods/log'] }] }, false],
    ['of all its parts', { resources: [{ resources: ['pods/*'] }] }, true],
    ['of the name', { resources: [{ resources: ['pods'], resourceNames: ['a'] }] }, true],
    ['of another name', { resources: [{ resources: ['pods'], resourceNames: ['b'] }] }, false],
    ['of paths', { nonResourceURLs: ['*'] }, false],
  ])('%s is asked whether it counts', (_what, rule, counts) => {
    expect(hits(rule, asked())).toBe(counts);
  });

  it('matches only a subresource that it names', () => {
    const log = asked({ subresource: 'log' });
    for (const pattern of ['pods/log', 'pods/*', '*/log', '*'])
      expect(hits({ resources: [{ resources: [pattern] }] }, log)).toBe(true);
    for (const pattern of ['pods', '*/status'])
      expect(hits({ resources: [{ resources: [pattern] }] }, log)).toBe(false);
  });

  it('matches paths by prefix', () => {
    const at = (path: string): Attributes => ({ user: joe, verb: 'get', path });
    expect(hits({ nonResourceURLs: ['/health*'] }, at('/healthz/ping'))).toBe(true);
    expect(hits({ nonResourceURLs: ['/healthz'] }, at('/healthz/ping'))).toBe(false);
    expect(hits({ resources: [{ group: '*' }] }, at('/healthz'))).toBe(false);
  });
});

describe('several rules', () => {
  it('apply by the first match, and record nothing without a match', () => {
    const rules: PolicyRule[] = [{ level: 'None', users: ['joe'] }, { level: 'Request' }];
    expect(levelOf({ rules }, asked())).toBe('None');
    expect(levelOf({ rules }, asked({ user: node }))).toBe('Request');
    expect(levelOf({ rules: [rules[0]!] }, asked({ user: node }))).toBe('None');
  });

  it('each add their omitted stages to the policy, and decide about managed fields', () => {
    const policy: Policy = {
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'Request', omitStages: ['Panic'], omitManagedFields: false, verbs: ['get'] },
        { level: 'Request' },
      ],
    };
    const first = new Evaluator(policy).verdictOn(asked());
    expect([...first.omitStages]).toEqual(['RequestReceived', 'Panic']);
    expect(first.omitManagedFields).toBe(false);
    expect(new Evaluator(policy).verdictOn(asked({ verb: 'list' })).omitManagedFields).toBe(true);
  });

  it('gives the same result with a memo as when trying all rules', () => {
    const some = (values: readonly string[]) => fc.option(fc.subarray([...values]), { nil: undefined });
    const rule = fc.record({
      level: fc.constantFrom('None', 'Metadata', 'Request'),
      users: some(['joe', 'bob']),
      verbs: some(['get', 'list']),
      namespaces: some(['n', 'm', '']),
      resources: some(['pods', 'secrets', 'pods/log', '*']).map(
        (resources) =>
          resources && [{ group: '', resources, ...(resources.length > 1 ? { resourceNames: ['a'] } : {}) }],
      ),
    });
    const request = fc.record({ namespace: fc.constantFrom('n', 'm', ''), name: fc.constantFrom('a', 'b', '') });
    forAll(fc.array(rule, { maxLength: 6 }), fc.array(request, { minLength: 1 }), (rules, requests) => {
      const evaluator = new Evaluator({ rules: rules as unknown as PolicyRule[] });
      const memo = new Memo();
      for (const each of requests) {
        expect(evaluator.verdictOn(asked(each), memo)).toEqual(evaluator.verdictOn(asked(each)));
      }
    });
  });
});

describe('without a policy file', () => {
  it.each<[string, Partial<ResourceAttributes>, string]>([
    ['a write', { verb: 'create', name: '' }, 'Metadata'],
    ['a delete of many', { verb: 'deletecollection', name: '' }, 'Metadata'],
    ['a read', {}, 'None'],
    ['a watch', { verb: 'watch', name: '' }, 'None'],
    ['a secret that is read', { resource: 'secrets' }, 'Metadata'],
    ['a token that is made', { resource: 'serviceaccounts', subresource: 'token', verb: 'create' }, 'Metadata'],
    ['a way into a container', { subresource: 'exec' }, 'Metadata'],
    ['a role that is read', { group: 'rbac.authorization.k8s.io', resource: 'roles' }, 'Metadata'],
    ['a lease of a node', { user: node, verb: 'update', group: 'coordination.k8s.io', resource: 'leases' }, 'None'],
    ['a lease of a person', { verb: 'update', group: 'coordination.k8s.io', resource: 'leases' }, 'Metadata'],
    ['what a node says of itself', { user: node, verb: 'patch', resource: 'nodes', subresource: 'status' }, 'None'],
    ['a secret that a node reads', { user: node, resource: 'secrets' }, 'Metadata'],
    ['secrets that a node watches', { user: node, verb: 'watch', resource: 'secrets' }, 'None'],
  ])('decides the level for %s', (_what, more, level) => {
    expect(levelOf(defaultPolicy, asked(more))).toBe(level);
  });

  it('records every subresource that opens a connection, whatever its method', () => {
    const registry = new Registry(allKinds, allSubresources);
    const resources = [...registry.apiVersions].flatMap((apiVersion) => registry.resourcesOf(apiVersion));
    const connections = resources.flatMap(({ kind, version, subresources }) =>
      [...subresources.values()]
        .filter(({ descriptor }) => descriptor.content.type === 'connection')
        .map(({ name }) => ({ group: version.group, resource: kind.plural, subresource: name })),
    );
    expect(connections).toContainEqual({ group: '', resource: 'pods', subresource: 'exec' });
    for (const each of connections) expect(levelOf(defaultPolicy, asked(each)), each.subresource).toBe('Metadata');
  });

  it('does not record health checks', () => {
    expect(levelOf(defaultPolicy, { user: joe, verb: 'get', path: '/healthz' })).toBe('None');
  });

  it('never records a body', () => {
    for (const { level } of defaultPolicy.rules) expect(['None', 'Metadata']).toContain(level);
  });
});
