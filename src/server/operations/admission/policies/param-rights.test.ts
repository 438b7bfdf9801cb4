import { expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { allKinds } from '../../../../kinds/all.ts';

const asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const rules = { apiVersion: 'rbac.authorization.k8s.io/v1', namespace: '' };
const user = { name: 'ann', groups: ['dev'] };
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const policy = {
  metadata: { name: 'p' },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    paramKind: { apiVersion: 'v1', kind: 'Secret' },
    validations: [{ expression: 'params == null' }],
  },
};
const binding = {
  metadata: { name: 'b' },
  spec: {
    policyName: 'p',
    validationActions: ['Deny'],
    paramRef: { name: 's', namespace: 'default', parameterNotFoundAction: 'Deny' },
  },
};

it('lets users name only parameters that they may read', async () => {
  const api = await testServer(allKinds, { authorization: ['RBAC'] });
  const allow = async (name: string, resources: object) => {
    await api.create('clusterroles', { metadata: { name }, rules: [resources] }, rules);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    const subjects = [{ kind: 'User', name: 'ann', apiGroup: 'rbac.authorization.k8s.io' }];
    await api.create('clusterrolebindings', { metadata: { name }, roleRef, subjects }, rules);
  };
  const create = () => api.create('validatingadmissionpolicies', policy, { ...asked, user });
  const bind = () => api.create('validatingadmissionpolicybindings', binding, { ...asked, user });
  await expect(create()).rejects.toMatchObject({
    reason: 'Invalid',
    message:
      'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user &{ann  [dev] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
  });
  await expect(bind()).rejects.toThrow(
    'spec.paramRef: Forbidden: unable to get policy p to determine minimum required permissions and user &{ann  [dev] map[]} does not have "get" permission for all groups, versions and resources',
  );
  await api.create('validatingadmissionpolicies', policy, asked);
  await expect(bind()).rejects.toThrow('does not have "get" permission on the object referenced by paramRef');
  await allow('reader', { verbs: ['get'], apiGroups: [''], resources: ['secrets'] });
  await api.delete('validatingadmissionpolicies', 'p', asked);
  expect((await create()).metadata.name).toBe('p');
  expect((await bind()).metadata.name).toBe('b');
});
