import { beforeEach, describe, expect, it } from 'vitest';
import { keepingItsPromise } from '../../../../test/support/admission.ts';
import { type Asked, type TestServer, testServer } from '../../../../test/support/server.ts';
import { allKinds } from '../../../kinds/all.ts';
import { namespaceLifecycle } from '../plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { validatingAdmissionPolicy } from './validating.ts';

const REGISTRATION: Asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const CONFIG_MAPS = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};

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

const refusal = (name: string, more: object = {}, asked: Asked = {}) =>
  created(name, more, asked).then(
    () => undefined,
    (error) => error,
  );

describe('a validation', () => {
  it('rejects what it is false for, in the words of Kubernetes', async () => {
    await enforce({ validations: [{ expression: "object.metadata.name.startsWith('a')" }] });
    await created('ab');
    const error = await refusal('b');
    const why =
      "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: failed expression: object.metadata.name.startsWith('a')";
    expect(error.toStatus()).toMatchObject({
      message: `configmaps "b" is forbidden: ${why}`,
      reason: 'Invalid',
      code: 422,
      details: { name: 'b', kind: 'configmaps', causes: [{ message: why }] },
    });
  });

  it('has effect only while a binding names it', async () => {
    await enforce({ validations: [{ expression: 'false' }] });
    expect(await refusal('a')).toBeDefined();
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
  ])('says with %j: %s', async (fields, message, code) => {
    await enforce({ validations: [{ expression: 'false', ...fields }] });
    const error = await refusal('x');
    expect(error.message.split('denied request: ')[1]).toBe(message);
    expect(error.code).toBe(code);
  });
});
