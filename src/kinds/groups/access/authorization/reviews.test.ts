import { describe, expect, test } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../../kind.ts';
import { LocalSubjectAccessReview } from './local-subject-access-review.ts';
import { SelfSubjectAccessReview } from './self-subject-access-review.ts';
import { SelfSubjectRulesReview } from './self-subject-rules-review.ts';
import { SubjectAccessReview } from './subject-access-review.ts';

const errorsOf = (kind: Kind, spec: object, metadata: object = {}) => create(kind, { metadata, spec }).errors;
const resourceAttributes = { namespace: 'n', verb: 'get', resource: 'pods' };
const nonResourceAttributes = { path: '/healthz', verb: 'get' };

test.each<Kind>([SubjectAccessReview, LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview])(
  '$kind can only be asked',
  (kind) => {
    expect(kind.verbs).toEqual(['create']);
  },
);

describe.each<[string, Kind, object]>([
  ['about somebody', SubjectAccessReview, { user: 'u' }],
  ['about oneself', SelfSubjectAccessReview, {}],
])('a question %s', (_what, kind, whom) => {
  test.each<[object, ...string[]]>([
    [{ resourceAttributes }],
    [{ nonResourceAttributes }],
    [
      {},
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      { resourceAttributes, nonResourceAttributes },
      'spec.nonResourceAttributes: Invalid value: {"path":"/healthz","verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
  ])('%j', (spec, ...errors) => {
    expect(errorsOf(kind, { ...whom, ...spec })).toEqual(errors);
  });

  test('a review must not have a name', () => {
    expect(errorsOf(kind, { ...whom, resourceAttributes }, { name: 'a' })).toEqual([
      'metadata: Invalid value: {"name":"a"}: must be empty',
    ]);
    const managedFields = [{ manager: 'm', operation: 'Update' }];
    expect(errorsOf(kind, { ...whom, resourceAttributes }, { managedFields })).toEqual([]);
  });
});

test('a review without user and groups is rejected', () => {
  expect(errorsOf(SubjectAccessReview, { resourceAttributes })).toEqual([
    'spec.user: Invalid value: "": at least one of user or group must be specified',
  ]);
  expect(errorsOf(SubjectAccessReview, { resourceAttributes, groups: ['g'] })).toEqual([]);
});

test('a local review must stay in its namespace', () => {
  const ask = (spec: object, metadata: object = { namespace: 'n' }) =>
    errorsOf(LocalSubjectAccessReview, { user: 'u', ...spec }, metadata);
  expect(ask({ resourceAttributes })).toEqual([]);
  expect(ask({ resourceAttributes }, { namespace: 'm', name: 'a' })).toEqual([
    'metadata: Invalid value: {"namespace":"m","name":"a"}: must be empty except for namespace',
    'spec.resourceAttributes.namespace: Invalid value: "n": must match metadata.namespace',
  ]);
  expect(ask({ nonResourceAttributes })).toEqual([
    'spec.nonResourceAttributes: Invalid value: {"path":"/healthz","verb":"get"}: disallowed on this kind of request',
  ]);
});

describe('selectors', () => {
  const ask = (selectors: object) =>
    errorsOf(SelfSubjectAccessReview, { resourceAttributes: { ...resourceAttributes, ...selectors } });
  const at = 'spec.resourceAttributes';

  test.each<[object, string[]]>([
    [{ fieldSelector: { rawSelector: 'a=b' }, labelSelector: { rawSelector: 'a=b' } }, []],
    [{ fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['x'] }] } }, []],
    [{ labelSelector: { requirements: [{ key: 'a', operator: 'NewerThanNow' }] } }, []],
    [
      { labelSelector: {} },
      [
        `${at}.labelSelector.requirements: Required value: when ${at}.labelSelector is specified, requirements or rawSelector is required`,
      ],
    ],
    [
      { fieldSelector: { rawSelector: 'a=b', requirements: [{ key: '', operator: 'In' }] } },
      [
        `${at}.fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`,
        `${at}.fieldSelector.requirements[0].key: Required value: must be specified`,
        `${at}.fieldSelector.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      ],
    ],
    [
      { labelSelector: { requirements: [{ key: 'a b', operator: 'Exists', values: ['-'] }] } },
      [
        `${at}.labelSelector.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
        expect.stringMatching(/requirements\[0]\.key: Invalid value: "a b": name part must consist of/),
        expect.stringMatching(/requirements\[0]\.values\[0]: Invalid value: "-": a valid label must be/),
      ],
    ],
  ])('%j', (selectors, errors) => {
    expect(ask(selectors)).toEqual(errors);
  });
});

test('the status always has its required fields', () => {
  expect(create(SubjectAccessReview as Kind<any>, { spec: {} }).object.status).toEqual({ allowed: false });
  expect(create(SelfSubjectRulesReview as Kind<any>, {}).object).toMatchObject({
    spec: {},
    status: { resourceRules: [], nonResourceRules: [], incomplete: false },
  });
});
