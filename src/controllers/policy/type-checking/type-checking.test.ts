import { expect, it } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';
import { allKinds } from '../../../kinds/all.ts';
import { ValidatingAdmissionPolicy } from '../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import { planTypeChecking, typeCheckingController } from './type-checking.ts';

const DEPLOYMENTS = {
  operations: ['*'],
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments'],
  scope: '*',
};
const controller = typeCheckingController({ kinds: () => allKinds });

const policy = (spec: object) =>
  ({
    metadata: { name: 'p', generation: 2 },
    spec: { matchConstraints: { resourceRules: [DEPLOYMENTS] }, failurePolicy: 'Fail', ...spec },
    status: { observedGeneration: 1 },
  }) as unknown as ValidatingAdmissionPolicy;

async function warningsOf(spec: object) {
  const checked = policy(spec);
  const observed = await controller.observe!(checked, undefined as never, undefined as never);
  const [action] = planTypeChecking(checked, { observed }) as unknown as [{ object: ValidatingAdmissionPolicy }];
  expect(action.object.status).toMatchObject({ observedGeneration: 2, typeChecking: {} });
  return action.object.status?.typeChecking?.expressionWarnings;
}

it('type checking finds operators and fields that the kind has not, in the words of Kubernetes', async () => {
  const validations = [
    { expression: "object.spec.replicas > '1'" },
    { expression: 'object.spec.replicas <= 5', messageExpression: "'got ' + object.spec.nothing" },
  ];
  expect(await warningsOf({ validations })).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
    },
    {
      fieldRef: 'spec.validations[1].messageExpression',
      warning:
        "apps/v1, Kind=Deployment: ERROR: <input>:1:21: undefined field 'nothing'\n | 'got ' + object.spec.nothing\n | ....................^\n",
    },
  ]);
});

it('type checking knows variables and parameters', async () => {
  const variables = [{ name: 'size', expression: 'object.spec.replicas' }];
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const good = [{ expression: 'variables.size <= 5 && params.data.max == object.metadata.name' }];
  expect(await warningsOf({ variables, paramKind, validations: good })).toBeUndefined();
  const bad = [{ expression: "variables.size == 'x' || params.spec.max == 1" }];
  const [{ warning }] = (await warningsOf({ variables, paramKind, validations: bad })) as unknown as [
    { warning: string },
  ];
  expect(warning).toContain("found no matching overload for '_==_' applied to '(int, string)'");
  expect(warning).toContain("undefined field 'spec'");
});

it('type checking checks every kind that the rules name, and none with wildcards', async () => {
  const resourceRules = [
    { ...DEPLOYMENTS, resources: ['replicasets', 'deployments', 'deployments/scale'] },
    { ...DEPLOYMENTS, apiGroups: ['*'] },
    { ...DEPLOYMENTS, apiGroups: ['none'] },
  ];
  const validations = [{ expression: 'object.spec.paused' }];
  const warnings = await warningsOf({ matchConstraints: { resourceRules }, validations });
  expect(warnings).toHaveLength(1);
  expect(warnings![0]!.warning).toMatch(/^apps\/v1, Kind=ReplicaSet: ERROR: <input>:1:12: undefined field 'paused'/);
});

it('type checking is done once for each generation', async () => {
  const checked = { ...policy({ validations: [{ expression: 'true' }] }), status: { observedGeneration: 2 } };
  expect(planTypeChecking(checked, { observed: [] })).toEqual([]);
  expect(planTypeChecking(undefined, { observed: [] })).toEqual([]);
});

it('type checking writes a status that the server accepts', async () => {
  const api = await testServer(allKinds);
  const asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
  const validations = [{ expression: "object.spec.replicas > '1'" }];
  const { spec } = policy({ validations });
  const made = await api.create('validatingadmissionpolicies', { metadata: { name: 'p' }, spec }, asked);
  const observed = await controller.observe!(made, undefined as never, undefined as never);
  const [action] = planTypeChecking(made, { observed }) as unknown as [{ object: object }];
  const written = await api.update('validatingadmissionpolicies', action.object, { ...asked, subresource: 'status' });
  expect(written.status.observedGeneration).toBe(1);
  expect(written.status.typeChecking.expressionWarnings).toHaveLength(1);
  expect(ValidatingAdmissionPolicy.subresources?.status).toBe(true);
});
