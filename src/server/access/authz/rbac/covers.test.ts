import { describe, expect, it } from 'vitest';
import { fc, forAll } from '../../../../../test/support/property-runs.ts';
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import { describeRules, uncovered } from './covers.ts';
import { coversPath, ruleAllows } from './rule.ts';

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

/** A reference implementation of `uncovered` that compares single permissions. */
function missingSingles(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const singles = wanted.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames, nonResourceURLs = [] }) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb): PolicyRule[] => {
          const single = { verbs: [verb], apiGroups: [group], resources: [resource] };
          return resourceNames ? resourceNames.map((name) => ({ ...single, resourceNames: [name] })) : [single];
        }),
      ),
    ),
    ...nonResourceURLs.flatMap((path) => verbs.map((verb): PolicyRule => ({ verbs: [verb], nonResourceURLs: [path] }))),
  ]);
  return singles.filter((single) => !held.some((rule) => coversSingle(rule, single)));
}

function coversSingle(rule: PolicyRule, single: PolicyRule): boolean {
  const has = (owned: readonly string[] = [], [value]: readonly string[]) =>
    owned.includes('*') || owned.includes(value!);
  if (!has(rule.verbs, single.verbs)) return false;
  if (single.nonResourceURLs) {
    const [path] = single.nonResourceURLs;
    return !rule.resourceNames?.length && (rule.nonResourceURLs ?? []).some((owned) => coversPath(owned, path!));
  }
  const [resource = ''] = single.resources ?? [];
  const [, subresource] = resource.split('/');
  const resources = rule.resources ?? [];
  return (
    has(rule.apiGroups, single.apiGroups ?? []) &&
    (has(resources, [resource]) || (subresource !== undefined && resources.includes(`*/${subresource}`))) &&
    (!rule.resourceNames?.length || (single.resourceNames ?? []).some((name) => rule.resourceNames?.includes(name)))
  );
}

describe('uncovered', () => {
  it('is empty only if everything wanted is held', () => {
    forAll({ numRuns: 500 }, rules, rules, (held, wanted) => {
      if (uncovered(held, wanted).rules.length > 0) return;
      for (const asked of questions) if (allows(wanted, asked)) expect(allows(held, asked)).toBe(true);
    });
  });

  it('is empty for the held rules themselves and for no rules', () => {
    forAll(rules, rules, (held, others) => {
      expect(uncovered([...others, ...held], held).rules).toEqual([]);
      expect(uncovered(held, []).rules).toEqual([]);
    });
  });

  it('equals a check of every single permission', () => {
    forAll({ numRuns: 1_000 }, rules, rules, (held, wanted) => {
      expect(uncovered(held, wanted)).toEqual({ rules: missingSingles(held, wanted), isExact: true });
    });
  });

  const names = (prefix: string, length = 500) => Array.from({ length }, (_, i) => `${prefix}${i}`);
  const cross: PolicyRule = {
    apiGroups: names('g'),
    resources: names('r'),
    verbs: names('v'),
    resourceNames: names('n'),
  };

  it('does not expand a rule that stands for millions of permissions', () => {
    expect(uncovered([], [cross])).toEqual({ rules: [cross], isExact: true });
    expect(uncovered([cross], [cross])).toEqual({ rules: [], isExact: true });
    const everything: PolicyRule = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    expect(uncovered([everything], [cross])).toEqual({ rules: [], isExact: true });
  });

  it('finds the rest of a large rule that several rules cover in part', () => {
    const half = (list: readonly string[] | undefined, from: number, to: number) => list!.slice(from, to);
    const held = [
      { ...cross, verbs: half(cross.verbs, 0, 250) },
      { ...cross, verbs: half(cross.verbs, 250, 500), resources: half(cross.resources, 0, 499) },
    ];
    const missing = { ...cross, verbs: half(cross.verbs, 250, 500), resources: ['r499'] };
    expect(uncovered(held, [cross])).toEqual({ rules: [missing], isExact: true });
    expect(uncovered([...held, { ...missing, resources: ['*'] }], [cross])).toEqual({ rules: [], isExact: true });
  });

  it('gives up after too many comparisons, and counts the rest as uncovered', () => {
    const many = (prefix: string, length: number): PolicyRule[] =>
      names(prefix, length).map((verb) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] }));
    const { rules: missing, isExact } = uncovered(many('a', 20_000), many('b', 20_000));
    expect(isExact).toBe(false);
    expect(missing).toHaveLength(20_000);
    expect(describeRules(missing).join('').length).toBeLessThan(100_000);
    const scattered = names('v').map((verb, i) => ({
      ...cross,
      verbs: [verb],
      resources: [`r${i}`],
      apiGroups: [`g${i}`],
    }));
    expect(uncovered(scattered, [cross]).rules.length).toBeGreaterThan(0);
  });
});

it('describes rules with the verbs of a resource combined', () => {
  const wanted: PolicyRule[] = [
    { verbs: ['list', 'get'], apiGroups: [''], resources: ['pods', 'nodes'] },
    { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['a'] },
    { verbs: ['get', 'post'], nonResourceURLs: ['/a'] },
  ];
  expect(describeRules(uncovered([], wanted).rules)).toEqual([
    '{APIGroups:[""], Resources:["nodes"], Verbs:["list" "get"]}',
    '{APIGroups:[""], Resources:["pods"], Verbs:["list" "get"]}',
    '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}',
    '{NonResourceURLs:["/a"], Verbs:["get"]}',
    '{NonResourceURLs:["/a"], Verbs:["post"]}',
  ]);
});
