import { describe, expect, it } from 'vitest';
import { testServer } from '../../../../../../test/support/server.ts';
import { Namespace } from '../../../core/namespace.ts';
import { MutatingAdmissionPolicy } from './mutating-admission-policy.ts';
import { MutatingAdmissionPolicyBinding } from './mutating-admission-policy-binding.ts';
import { ValidatingAdmissionPolicy } from './validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBinding } from './validating-admission-policy-binding.ts';

const asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const matchConstraints = { resourceRules: [rule] };
const expression = "object.metadata.name != 'x'";
const mutation = { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' } };
const paramRef = { name: 'x', parameterNotFoundAction: 'Deny' };

const GOOD = {
  validatingadmissionpolicies: { matchConstraints, validations: [{ expression }] },
  validatingadmissionpolicybindings: { policyName: 'p', validationActions: ['Deny'] },
  mutatingadmissionpolicies: { matchConstraints, mutations: [mutation], reinvocationPolicy: 'Never' },
  mutatingadmissionpolicybindings: { policyName: 'p' },
};
type Plural = keyof typeof GOOD;

const start = () =>
  testServer([
    ...[Namespace, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding],
    ...[MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding],
  ]);

async function faults(plural: Plural, fields: object): Promise<string[]> {
  const api = await start();
  const object = { metadata: { name: 'p' }, spec: { ...GOOD[plural], ...fields } };
  const error = await api.create(plural, object, asked).catch((caught) => caught);
  return (error.details?.causes ?? []).map(
    ({ field, message }: { field: string; message: string }) => `${field.replace('spec.', '')}: ${message}`,
  );
}

it('policies have the defaults of Kubernetes', async () => {
  const api = await start();
  const selectors = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' };
  const filled = { ...selectors, resourceRules: [{ ...rule, scope: '*' }] };
  const made = async (plural: Plural, fields: object = {}) =>
    (await api.create(plural, { metadata: { name: 'p' }, spec: { ...GOOD[plural], ...fields } }, asked)).spec;
  expect(await made('validatingadmissionpolicies')).toEqual({
    matchConstraints: filled,
    validations: [{ expression }],
    failurePolicy: 'Fail',
  });
  expect(await made('mutatingadmissionpolicies')).toEqual({
    matchConstraints: filled,
    mutations: [mutation],
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
  });
  expect(await made('validatingadmissionpolicybindings', { matchResources: {} })).toEqual({
    policyName: 'p',
    validationActions: ['Deny'],
    matchResources: selectors,
  });
  expect(await made('mutatingadmissionpolicybindings')).toEqual({ policyName: 'p' });
});

const long = 'x'.repeat(64);

describe.each<[Plural, [object, string][]]>([
  [
    'validatingadmissionpolicies',
    [
      [{ matchConstraints: undefined }, 'matchConstraints: Required value'],
      [{ matchConstraints: {} }, 'matchConstraints.resourceRules: Required value'],
      [
        { validations: [] },
        'auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      ],
      [
        { validations: [{ expression: ' ' }] },
        'validations[0].expression: Required value: expression is not specified',
      ],
      [
        { validations: [{ expression, message: 'a\nb' }] },
        'validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
      ],
      [
        { validations: [{ expression, message: ' ' }] },
        'validations[0].message: Invalid value: " ": must be non-empty if specified',
      ],
      [
        { validations: [{ expression, reason: 'Bored' }] },
        'validations[0].reason: Unsupported value: "Bored": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
      [
        { validations: [{ expression: '1' }] },
        'validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
      ],
      [
        { validations: [{ expression, messageExpression: '1' }] },
        'validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
      ],
      [
        { auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
        'auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
      ],
      [
        { auditAnnotations: [{ key: 'k', valueExpression: ' ' }] },
        'auditAnnotations[0].valueExpression: Required value: valueExpression is not specified',
      ],
      [
        {
          auditAnnotations: [
            { key: 'k', valueExpression: "'a'" },
            { key: 'k', valueExpression: "'a'" },
          ],
        },
        'auditAnnotations[1].key: Duplicate value: "k"',
      ],
      [
        { auditAnnotations: [{ key: long, valueExpression: "'a'" }] },
        `auditAnnotations[0].key: Invalid value: "p/${long}": name part must be no more than 63 bytes`,
      ],
      [
        { variables: [{ name: 'in', expression: '1' }] },
        'variables[0].name: Invalid value: "in": must be a valid CEL identifier',
      ],
      [
        {
          variables: [
            { name: 'a', expression: '1' },
            { name: 'a', expression: '2' },
          ],
        },
        'variables[1].name: Duplicate value: "a"',
      ],
      [
        { variables: [{ name: 'a', expression: '' }] },
        'variables[0].expression: Required value: expression is not specified',
      ],
      [
        { paramKind: { apiVersion: 'a/b/c', kind: 'K' } },
        'paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      ],
      [{ paramKind: { apiVersion: 'v1' } }, 'paramKind.kind: Required value'],
      [{ failurePolicy: 'Maybe' }, 'failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
      [
        { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a/b', 'a'] }] } },
        'matchConstraints.resourceRules[0].resourceNames[2]: Duplicate value: "a"',
      ],
      [
        { matchConditions: [{ name: 'c', expression: 'variables.a == 1' }] },
        'matchConditions[0].expression: Invalid value: "variables.a == 1": compilation failed',
      ],
    ],
  ],
  [
    'validatingadmissionpolicybindings',
    [
      [{ policyName: '' }, 'policyName: Required value'],
      [{ validationActions: [] }, 'validationActions: Required value: at least one validation action is required'],
      [
        { validationActions: ['Deny', 'Warn'] },
        'validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
      [
        { validationActions: ['Cry'] },
        'validationActions[0]: Unsupported value: "Cry": supported values: "Audit", "Deny", "Warn"',
      ],
      [{ validationActions: ['Deny', 'Deny'] }, 'validationActions[1]: Duplicate value: "Deny"'],
      [{ paramRef: { name: 'x' } }, 'paramRef.parameterNotFoundAction: Required value'],
      [
        { paramRef: { ...paramRef, parameterNotFoundAction: 'Cry' } },
        'paramRef.parameterNotFoundAction: Unsupported value: "Cry": supported values: "Deny", "Allow"',
      ],
      [
        { paramRef: { ...paramRef, selector: {} } },
        'paramRef.name: Forbidden: name and selector are mutually exclusive',
      ],
      [{ paramRef: { ...paramRef, name: '' } }, 'paramRef: Required value: one of name or selector must be specified'],
    ],
  ],
  [
    'mutatingadmissionpolicies',
    [
      [{ reinvocationPolicy: undefined }, 'reinvocationPolicy: Required value'],
      [{ mutations: [] }, 'mutations: Required value: mutations must contain at least one item'],
      [
        { mutations: [{ patchType: 'JSONPatch' }] },
        'mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      ],
      [
        { mutations: [{ ...mutation, applyConfiguration: { expression: 'Object{}' } }] },
        'mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      ],
      [
        { mutations: [{ patchType: 'Magic' }] },
        'mutations[0].patchType: Unsupported value: "Magic": supported values: "ApplyConfiguration", "JSONPatch"',
      ],
      [
        { mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: "'x'" } }] },
        'mutations[0].applyConfiguration.expression: Invalid value: "\'x\'": must evaluate to Object but got string',
      ],
      [
        { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[1]' } }] },
        'mutations[0].jsonPatch.expression: Invalid value: "[1]": must evaluate to list(JSONPatch) but got list(int)',
      ],
      [
        { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } },
        'matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      ],
    ],
  ],
])('%s', (plural, cases) => {
  it('accepts what is good', async () => {
    expect(await faults(plural, {})).toEqual([]);
  });

  it.each(cases)('rejects %j', async (fields, message) => {
    expect(await faults(plural, fields)).toContainEqual(expect.stringContaining(message));
  });
});

it('a policy has no more expressions than can be compiled while others wait', async () => {
  const api = await start();
  const validations = Array.from({ length: 10_000 }, () => ({ expression }));
  const spec = { ...GOOD.validatingadmissionpolicies, validations };
  await expect(api.create('validatingadmissionpolicies', { metadata: { name: 'p' }, spec }, asked)).rejects.toThrow(
    'spec.validations: Too many: 10000: must have at most 250 items',
  );
});

it('mutating policies are also served in older versions', async () => {
  const api = await start();
  for (const version of ['v1beta1', 'v1alpha1']) {
    const older = { apiVersion: `admissionregistration.k8s.io/${version}`, namespace: '' };
    const made = await api.create(
      'mutatingadmissionpolicies',
      { metadata: { name: version }, spec: GOOD.mutatingadmissionpolicies },
      older,
    );
    expect(made.apiVersion).toBe(older.apiVersion);
    expect((await api.get('mutatingadmissionpolicies', version, asked)).spec).toEqual(made.spec);
  }
});
