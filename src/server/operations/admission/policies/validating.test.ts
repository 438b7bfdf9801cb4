import { beforeEach, describe, expect, it } from 'vitest';
import { keepingItsPromise } from '../../../../../test/support/admission.ts';
import { type Asked, type TestServer, testServer } from '../../../../../test/support/server.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { namespaceLifecycle } from '../plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { validatingAdmissionPolicy } from './validating.ts';

const REGISTRATION: Asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const CONFIG_MAPS = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};

const NUMBERS = `[${Array.from({ length: 100 }, (_, i) => i).join()}]`;
/** An expression that is true and costs about 600,000 units, more than half of the limit of one expression. */
const COSTLY = `${NUMBERS}.all(a, ${NUMBERS}.all(b, ${Array.from({ length: 20 }, () => 'a + b').join(' + ')} >= 0))`;

let api: TestServer;

beforeEach(async () => {
  const admission = [namespaceLifecycle, validatingAdmissionPolicy].map(keepingItsPromise);
  api = await testServer(allKinds, { admission });
});

/** Creates a policy for ConfigMaps and a binding of the same name. */
async function enforce(spec: object, binding: object = {}, name = 'p') {
  const matchConstraints = { resourceRules: [CONFIG_MAPS] };
  const policy = { metadata: { name }, spec: { matchConstraints, ...spec } };
  await api.create('validatingadmissionpolicies', policy, REGISTRATION);
  const bound = {
    metadata: { name: `${name}-binding` },
    spec: { policyName: name, validationActions: ['Deny'], ...binding },
  };
  await api.create('validatingadmissionpolicybindings', bound, REGISTRATION);
}

const created = (name: string, more: object = {}, asked: Asked = {}) =>
  api.create('configmaps', { metadata: { name }, ...more }, asked);

const rejection = (name: string, more: object = {}, asked: Asked = {}) =>
  created(name, more, asked).then(
    () => undefined,
    (error) => error,
  );

const noted = (name: string) => api.notes('create', 'configmaps', { body: { metadata: { name } } });

describe('a validation', () => {
  it('rejects objects for which it is false, with the message of Kubernetes', async () => {
    await enforce({ validations: [{ expression: "object.metadata.name.startsWith('a')" }] });
    await created('ab');
    const error = await rejection('b');
    const why =
      "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: failed expression: object.metadata.name.startsWith('a')";
    expect(error.toStatus()).toMatchObject({
      message: `configmaps "b" is forbidden: ${why}`,
      reason: 'Invalid',
      code: 422,
      details: { name: 'b', kind: 'configmaps', causes: [{ message: why }] },
    });
  });

  it('is active only while a binding names it', async () => {
    await enforce({ validations: [{ expression: 'false' }] });
    expect(await rejection('a')).toBeDefined();
    await api.delete('validatingadmissionpolicybindings', 'p-binding', REGISTRATION);
    await created('a');
  });

  it.each([
    [{ message: ' too bad ' }, 'too bad', 422],
    [{ message: 'm', messageExpression: "'by ' + object.metadata.name" }, 'by x', 422],
    [{ message: 'm', messageExpression: 'object.nothing.at.all + "x"' }, 'm', 422],
    [{ message: 'm', messageExpression: '"a\\nb"' }, 'm', 422],
    [{ message: 'm', reason: 'Forbidden' }, 'm', 403],
    [{ message: 'm', reason: 'RequestEntityTooLarge' }, 'm', 413],
  ])('formats the message with %j: %s', async (fields, message, code) => {
    await enforce({ validations: [{ expression: 'false', ...fields }] });
    const error = await rejection('x');
    expect(error.message.split('denied request: ')[1]).toBe(message);
    expect(error.code).toBe(code);
  });
});

describe('the variables of expressions', () => {
  it.each([
    ["object.data.a == 'b'", true],
    ['oldObject == null', true],
    ["request.operation == 'CREATE' && request.name == 'x' && request.namespace == 'default'", true],
    ["request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'", true],
    ["request.userInfo.username == 'ann' && 'dev' in request.userInfo.groups", true],
    ['request.dryRun', false],
    ["namespaceObject.metadata.name == 'default'", true],
    ['has(object.metadata.uid)', true],
    ['has(object.binaryData)', false],
    ["variables.first == 'b' && variables.second == 'bb'", true],
    ['has(variables.first)', true],
    ["authorizer.requestResource.check('create').allowed()", true],
    ["authorizer.serviceAccount('default', 'robot').path('/metrics').check('get').allowed()", true],
    ["quantity('1Gi').isGreaterThan(quantity('1Mi'))", true],
  ])('evaluate %s to %s', async (expression, isTrue) => {
    const variables = [
      { name: 'first', expression: 'object.data.a' },
      { name: 'second', expression: 'variables.first + variables.first' },
    ];
    await enforce({ variables, validations: [{ expression }] });
    const user = { name: 'ann', groups: ['dev'] };
    const error = await rejection('x', { data: { a: 'b' } }, { user });
    expect(error?.message).toEqual(isTrue ? undefined : expect.stringContaining(`failed expression: ${expression}`));
  });

  it('include the old object of an update and of a delete', async () => {
    const rule = { ...CONFIG_MAPS, operations: ['*'] };
    const matchConstraints = { resourceRules: [rule] };
    const expression = "oldObject == null || oldObject.data.a != 'kept' || (object != null && object.data.a == 'kept')";
    await enforce({ matchConstraints, validations: [{ expression, message: 'kept' }] });
    await created('x', { data: { a: 'kept' } });
    const changed = api.update('configmaps', { metadata: { name: 'x' }, data: { a: 'other' } });
    await expect(changed).rejects.toThrow('denied request: kept');
    await expect(api.delete('configmaps', 'x')).rejects.toThrow('denied request: kept');
    await api.update('configmaps', { metadata: { name: 'x' }, data: { a: 'kept', b: 'c' } });
  });

  it('include the object in the version that the rule names', async () => {
    const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1beta1'], resources: ['deployments'] };
    const matchConstraints = { resourceRules: [rule] };
    await enforce({
      matchConstraints,
      validations: [{ expression: "object.apiVersion == 'apps/v1' || request.requestKind.version == 'none'" }],
    });
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    const made = api.create('deployments', { metadata: { name: 'd' }, spec }, { apiVersion: 'apps/v1' });
    await expect(made).rejects.toThrow('denied request: failed expression');
  });
});

describe('an expression that fails', () => {
  const validations = [{ expression: "object.data.missing == 'x'" }];
  const message = "expression 'object.data.missing == 'x'' resulted in error: no such key: data";

  it('rejects the request, unless the failure policy says otherwise', async () => {
    await enforce({ validations, failurePolicy: 'Ignore' }, {}, 'ignored');
    await created('a');
    await enforce({ validations });
    expect((await rejection('b')).message).toContain(`denied request: ${message}`);
  });

  it('names the failing variable, which is evaluated once', async () => {
    const variables = [{ name: 'v', expression: 'object.data.missing' }];
    await enforce({ variables, validations: [{ expression: "variables.v == 'x' || variables.v == 'y'" }] });
    expect((await rejection('b')).message).toContain(
      `resulted in error: composited variable "v" fails to evaluate: no such key: data`,
    );
  });

  it('is stopped when it costs too much', async () => {
    await enforce({ validations: [{ expression: `${COSTLY} && ${COSTLY}` }] });
    expect((await rejection('b')).message).toContain(
      'resulted in error: operation cancelled: actual cost limit exceeded',
    );
  });
});

describe('a binding', () => {
  const validations = [{ expression: 'false', message: 'no' }];

  it('admits the request when it warns', async () => {
    await enforce({ validations }, { validationActions: ['Warn'] });
    const { warnings } = await noted('x');
    expect(warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': no"]);
  });

  it('adds an annotation when it audits', async () => {
    await enforce({ validations }, { validationActions: ['Audit'] });
    const { annotations } = await noted('x');
    const [failure] = JSON.parse(annotations!['validation.policy.admission.k8s.io/validation_failure']!);
    expect(failure).toEqual({
      message: 'no',
      policy: 'p',
      binding: 'p-binding',
      expressionIndex: 0,
      validationActions: ['Audit'],
    });
  });

  it('applies to the intersection of its matchResources and those of the policy', async () => {
    const matchResources = { objectSelector: { matchLabels: { checked: 'yes' } } };
    await enforce({ validations }, { matchResources });
    await created('a');
    expect(await rejection('b', { metadata: { name: 'b', labels: { checked: 'yes' } } })).toBeDefined();
  });
});

describe('match constraints', () => {
  const validations = [{ expression: 'false', message: 'no' }];

  it('exclude resources and name objects', async () => {
    const resourceRules = [{ ...CONFIG_MAPS, resourceNames: ['a', 'b'] }];
    const excludeResourceRules = [{ ...CONFIG_MAPS, resourceNames: ['b'] }];
    await enforce({ validations, matchConstraints: { resourceRules, excludeResourceRules } });
    expect(await rejection('a')).toBeDefined();
    await created('b');
    await created('c');
  });

  it('and conditions select requests', async () => {
    await enforce({ validations, matchConditions: [{ name: 'c', expression: "object.metadata.name != 'a'" }] });
    await created('a');
    expect(await rejection('b')).toBeDefined();
  });

  it('never match policies and bindings', async () => {
    const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    await enforce({ validations, matchConstraints: { resourceRules: [rule] } });
    expect(await rejection('a')).toBeDefined();
    await api.delete('validatingadmissionpolicybindings', 'p-binding', REGISTRATION);
    await created('a');
  });
});

describe('parameters', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validations = [
    {
      expression: 'params == null || params.data.name != object.metadata.name',
      messageExpression: "'not ' + params.data.name",
    },
  ];
  const param = (name: string, data: object, labels: object = {}) =>
    created(name, { metadata: { name, labels }, data });

  it('are found by name, in the namespace of the request', async () => {
    await param('settings', { name: 'taken' });
    await enforce({ paramKind, validations }, { paramRef: { name: 'settings', parameterNotFoundAction: 'Deny' } });
    await created('free');
    expect((await rejection('taken')).message).toContain('denied request: not taken');
    await api.create('namespaces', { metadata: { name: 'other' } }, { namespace: '' });
    expect((await rejection('free', {}, { namespace: 'other' })).message).toContain(
      "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    );
  });

  it('are found by labels, and each is evaluated', async () => {
    await param('one', { name: 'a' }, { use: 'yes' });
    await param('two', { name: 'b' }, { use: 'yes' });
    await param('three', { name: 'c' }, { use: 'no' });
    const selector = { matchLabels: { use: 'yes' } };
    await enforce(
      { paramKind, validations },
      { paramRef: { selector, namespace: 'default', parameterNotFoundAction: 'Allow' } },
    );
    expect((await rejection('a')).message).toContain('not a');
    expect((await rejection('b')).message).toContain('not b');
    await created('c');
  });

  it('are not waited for if they may be missing', async () => {
    await enforce(
      { paramKind, validations: [{ expression: 'false' }] },
      { paramRef: { name: 'none', parameterNotFoundAction: 'Allow' } },
    );
    expect(await rejection('a')).toBeUndefined();
  });

  it('are null for a binding without paramRef', async () => {
    await enforce({ paramKind, validations });
    expect(await rejection('a')).toBeUndefined();
  });

  it('make the policy unusable when their kind does not exist', async () => {
    await enforce({ paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' }, validations });
    expect((await rejection('a')).message).toContain(
      "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'",
    );
  });

  it('share the cost budget of their binding', async () => {
    for (let at = 0; at < 20; at++) await param(`p-${at}`, {}, { use: 'yes' });
    const selector = { matchLabels: { use: 'yes' } };
    const paramRef = { selector, parameterNotFoundAction: 'Allow' };
    await enforce({ paramKind, validations: [{ expression: 'true' }] }, { paramRef });
    await created('y');
    await enforce({ paramKind, validations: [{ expression: COSTLY }] }, { paramRef }, 'q');
    expect((await rejection('x')).message).toContain(
      'denied request: validation failed due to running out of cost budget, no further validation rules will be run',
    );
  });
});

it('audit annotations have the value of their expression, without repeating it', async () => {
  const auditAnnotations = [
    { key: 'name', valueExpression: "'named ' + object.metadata.name" },
    { key: 'none', valueExpression: "object.metadata.name == 'x' ? '' : 'other'" },
  ];
  await enforce({ auditAnnotations });
  const { annotations } = await noted('x');
  expect(annotations).toEqual({ 'p/name': 'named x' });
});

it('audit annotations reject the request when they fail', async () => {
  await enforce(
    { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.missing)' }] },
    { validationActions: ['Audit'] },
  );
  expect((await rejection('x')).message).toContain('no such key: data');
});
