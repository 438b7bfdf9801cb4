import { expect, it } from 'vitest';
import { accountObjects, clusterObject, credentialsSecret } from './member-objects.ts';

const MEMBERSHIP = { cluster: 'east', federation: 'fed', namespace: 'federation-system', secret: 'east-credentials' };

it('the account of the federation may do in the member what the federation does, and no more', () => {
  const role = accountObjects(MEMBERSHIP).find(({ kind }) => kind.kind === 'ClusterRole')!.object;
  const verbsOn = (resource: string) =>
    role.rules.flatMap((rule: any) => (rule.resources.includes(resource) ? rule.verbs : []));
  expect(verbsOn('deployments')).toContain('create');
  expect(verbsOn('pods')).toEqual(['get', 'list', 'watch']);
  for (const resource of ['*', 'clusterroles', 'serviceaccounts', 'pods/exec']) expect(verbsOn(resource)).toEqual([]);
});

it('its token is requested with a secret', () => {
  expect(accountObjects(MEMBERSHIP).map(({ object }) => `${object.kind} ${object.metadata.name}`)).toEqual([
    ...['Namespace federation-system', 'ServiceAccount east-fed', 'ClusterRole federation-controller-manager:east-fed'],
    ...['ClusterRoleBinding federation-controller-manager:east-fed', 'Secret east-fed-token'],
  ]);
});

it('the host has the credentials, and the federation the cluster', () => {
  const access = { server: 'https://192.0.2.1:6443', ca: 'CA', token: 't' };
  const secret = credentialsSecret(MEMBERSHIP, access).object;
  expect(JSON.parse(Buffer.from(secret.data.kubeconfig, 'base64').toString())).toMatchObject({
    ...{ 'current-context': 'east', users: [{ name: 'east', user: { token: 't' } }] },
    clusters: [{ cluster: { server: access.server, 'certificate-authority-data': 'Q0E=' } }],
  });
  expect(clusterObject(MEMBERSHIP, { server: access.server, context: 'kind-east' }).object).toMatchObject({
    metadata: { name: 'east', annotations: { 'federation.kubernetes.io/cluster-context': 'kind-east' } },
    spec: { secretRef: { name: 'east-credentials' }, serverAddressByClientCIDRs: [{ serverAddress: access.server }] },
  });
});
