import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PolicyRule } from '../../../kinds/groups/rbac/policy-rule.ts';
import { describeRules, uncovered } from './covers.ts';
import { ruleAllows } from './rule.ts';

const some = (...values: string[]) => fc.subarray(values, { minLength: 1, maxLength: 2 });
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record(
    {
      verbs: some('get', 'list', '*'),
      apiGroups: some('', 'apps', '*'),
      resources: some('pods', 'pods/log', '*/log', '*'),
      resourceNames: some('a', 'b'),
    },
    { requiredKeys: ['verbs', 'apiGroups', 'resources'] },
  ),
  fc.record({ verbs: some('get', '*'), nonResourceURLs: some('/a', '/a/*', '*') }),
);
const rules = fc.array(rule, { maxLength: 3 });

const user = { name: 'ann', groups: [] };
const questions = [
  ...['get', 'list', 'delete'].flatMap((verb) =>
    ['', 'apps', 'batch'].flatMap((group) =>
      ['pods', 'nodes'].flatMap((resource) =>
        ['', 'log', 'status'].flatMap((subresource) =>
          ['', 'a', 'b', 'c'].map((name) => ({
            user,
            verb,
            group,
            version: 'v1',
            resource,
            subresource,
            namespace: '',
            name,
          })),
        ),
      ),
    ),
  ),
  ...['get', 'post'].flatMap((verb) => ['/', '/a', '/a/b', '/b'].map((path) => ({ user, verb, path }))),
];
const allows = (held: readonly PolicyRule[], asked: (typeof questions)[number]) =>
  held.some((each) => ruleAllows(each, asked));

describe('uncovered', () => {
  it('is empty only if everything wanted is held', () => {
    fc.assert(
      fc.property(rules, rules, (held, wanted) => {
        if (uncovered(held, wanted).length > 0) return;
        for (const asked of questions) if (allows(wanted, asked)) expect(allows(held, asked)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is empty for the held rules themselves and for no rules', () => {
    fc.assert(
      fc.property(rules, rules, (held, others) => {
        expect(uncovered([...others, ...held], held)).toEqual([]);
        expect(uncovered(held, [])).toEqual([]);
      }),
    );
  });
});

it('describes rules with the verbs of a resource combined', () => {
  const wanted: PolicyRule[] = [
    { verbs: ['list', 'get'], apiGroups: [''], resources: ['pods', 'nodes'] },
    { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['a'] },
    { verbs: ['get', 'post'], nonResourceURLs: ['/a'] },
  ];
  expect(describeRules(uncovered([], wanted))).toEqual([
    '{APIGroups:[""], Resources:["nodes"], Verbs:["list" "get"]}',
    '{APIGroups:[""], Resources:["pods"], Verbs:["list" "get"]}',
    '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}',
    '{NonResourceURLs:["/a"], Verbs:["get"]}',
    '{NonResourceURLs:["/a"], Verbs:["post"]}',
  ]);
});
