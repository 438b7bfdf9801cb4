import { expect, it } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { FlowSchema } from './flow-schema.ts';
import { mandatoryFlowSchemas } from './mandatory.ts';

const priorityLevelConfiguration = { name: 'workload-low' };
const schema = (spec: object, name = 's') => ({ metadata: { name }, spec: { priorityLevelConfiguration, ...spec } });
const subjects = [{ kind: 'User', user: { name: '*' } }];
const anything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
const rule = (parts: object) => ({ rules: [{ subjects, resourceRules: [anything], ...parts }] });
const resources = (parts: object) => rule({ resourceRules: [{ ...anything, ...parts }] });
const paths = (...nonResourceURLs: string[]) => rule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] });
const who = (...list: object[]) => rule({ subjects: list });
const AT = 'spec.rules[0]';

it('a FlowSchema has a default precedence of 1000', () => {
  const { object, errors } = create(FlowSchema, schema({ matchingPrecedence: 0 }));
  expect(errors).toEqual([]);
  expect(object).toMatchObject({ spec: { matchingPrecedence: 1000 }, status: {} });
});

it.each<[string, object, string[]]>([
  ['rules', { ...rule({}), distinguisherMethod: { type: 'ByNamespace' } }, []],
  ['paths', paths('/', '/healthz', '/metrics/*'), []],
  [
    'no level',
    { priorityLevelConfiguration: undefined },
    ['spec.priorityLevelConfiguration.name: Required value: must reference a priority level'],
  ],
  [
    'a place before all others',
    { matchingPrecedence: 1 },
    ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  ],
  [
    'a place below',
    { matchingPrecedence: -1 },
    ['spec.matchingPrecedence: Invalid value: -1: must be a positive value'],
  ],
  [
    'a place beyond',
    { matchingPrecedence: 10001 },
    ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
  ],
  [
    'another way to tell flows apart',
    { distinguisherMethod: { type: 'ByHat' } },
    ['spec.distinguisherMethod.type: Unsupported value: {"Type":"ByHat"}: supported values: "ByNamespace", "ByUser"'],
  ],
  [
    'an empty rule',
    { rules: [{}] },
    [
      `${AT}.subjects: Required value: subjects must contain at least one value`,
      `${AT}: Required value: at least one of resourceRules and nonResourceRules has to be non-empty`,
    ],
  ],
  [
    'nothing in its rules',
    rule({ resourceRules: [{}], nonResourceRules: [{}] }),
    [
      `${AT}.resourceRules[0].verbs: Required value: verbs must contain at least one value`,
      `${AT}.resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group`,
      `${AT}.resourceRules[0].resources: Required value: resource rules must supply at least one resource`,
      `${AT}.resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace`,
      `${AT}.nonResourceRules[0].verbs: Required value: verbs must contain at least one value`,
      `${AT}.nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value`,
    ],
  ],
  [
    'everything and more',
    resources({ verbs: ['*', 'get'], apiGroups: ['*', ''], resources: ['*', 'pods'], namespaces: ['*', 'n'] }),
    [
      `${AT}.resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
      `${AT}.resourceRules[0].apiGroups: Invalid value: ["*",""]: if '*' is present, must not specify other api groups`,
      `${AT}.resourceRules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources`,
      `${AT}.resourceRules[0].namespaces: Invalid value: ["*","n"]: if '*' is present, must not specify other namespaces`,
    ],
  ],
  [
    'another verb and a namespace that is none',
    resources({ verbs: ['fly'], namespaces: ['a.b'] }),
    [
      `${AT}.resourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`,
      `${AT}.resourceRules[0].namespaces[0]: Invalid value: "a.b": each member of this list must be '*' or a DNS-1123 label; must not contain dots`,
    ],
  ],
  [
    'paths that are none',
    paths('', 'a', '/a b', '/a//b', '/*/b', '/a*'),
    [
      'must not be empty',
      'must start with slash',
      'must not contain white-space',
      'must not contain double slash',
      'wildcard can only do suffix matching',
      'wildcard can only do suffix matching',
    ].map((words) => expect.stringMatching(new RegExp(`nonResourceURLs\\[\\d\\]: Invalid value: ".*": ${words}$`))),
  ],
  [
    'whoever',
    who({ kind: 'Robot' }),
    [`${AT}.subjects[0].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"`],
  ],
  [
    'a user who is none',
    who({ kind: 'User', group: { name: 'g' }, serviceAccount: {} }),
    [
      `${AT}.subjects[0].user: Required value: user is required when subject kind is 'User'`,
      `${AT}.subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'`,
      `${AT}.subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'`,
    ],
  ],
  ['every account of a namespace', who({ kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } }), []],
  [
    'accounts and groups without names',
    who({ kind: 'ServiceAccount', serviceAccount: {} }, { kind: 'Group', group: {} }),
    [
      `${AT}.subjects[0].serviceAccount.name: Required value`,
      `${AT}.subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account`,
      `${AT}.subjects[1].group.name: Required value`,
    ],
  ],
])('a FlowSchema with %s is validated', (_what, spec, errors) => {
  expect(create(FlowSchema, schema(spec)).errors).toEqual(errors);
});

it.each(['exempt', 'catch-all'])('a FlowSchema called %s has a fixed spec', (name) => {
  const { object, errors } = create(FlowSchema, { metadata: { name }, spec: mandatoryFlowSchemas.get(name) });
  expect(errors).toEqual([]);
  const changed = { metadata: { name }, spec: { ...object.spec, matchingPrecedence: 500 } };
  expect(update(FlowSchema, object, changed).errors).toEqual([
    expect.stringMatching(new RegExp(`^spec: Invalid value: .*: spec of '${name}' must equal the fixed value$`)),
  ]);
});

it('a FlowSchema has unique condition types', () => {
  const { object: old } = create(FlowSchema, schema({}));
  const status = { conditions: [{ type: 'Dangling', status: 'False' }, { type: 'Dangling' }, {}] };
  expect(update(FlowSchema, old, { ...schema({}), status }, { subresource: 'status' }).errors).toEqual([
    'status.conditions[2].type: Required value',
    'status.conditions[1].type: Duplicate value: "Dangling"',
  ]);
});
