import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { admitting, rejection } from '../../../../../../test/support/admission.ts';
import type { TestServer } from '../../../../../../test/support/server.ts';
import { ownerReferencesPermissionEnforcement } from '../owner-references-permission-enforcement.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';

function requestFor(subject: string): string {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', '/dev/null'];
  const pem = execFileSync('openssl', ['req', '-new', ...key, '-subj', subject], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return pem.toString('base64');
}

const v1 = { apiVersion: 'certificates.k8s.io/v1', namespace: '' };
const MASTER = { name: 'root', groups: ['system:masters'] };
const ANN = { name: 'ann', groups: [] };

/** Calls inside the process are not authorized by the server: rejections here come from the plugins. */
async function withRights(server: TestServer, rules: readonly object[]): Promise<void> {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', namespace: '', user: MASTER };
  await server.create('clusterroles', { metadata: { name: 'r' }, rules }, rbac);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }];
  await server.create('clusterrolebindings', { metadata: { name: 'r' }, roleRef, subjects }, rbac);
}

const csr = (name: string, signerName: string, request: string) => ({
  metadata: { name },
  spec: { signerName, request, usages: ['client auth'] },
});

describe('requests for certificates', () => {
  let plain: string;
  let server: TestServer;
  beforeAll(async () => {
    plain = requestFor('/CN=ann');
    const plugins = [certificateApproval, certificateSigning, certificateSubjectRestriction];
    server = await admitting(plugins, { authorization: ['RBAC'] });
    const resources = { apiGroups: ['certificates.k8s.io'], resources: ['signers'] };
    await withRights(server, [
      { ...resources, verbs: ['approve'], resourceNames: ['example.com/*'] },
      { ...resources, verbs: ['sign'], resourceNames: ['example.com/web'] },
    ]);
    for (const signer of ['example.com/web', 'example.com/other', 'example.org/web']) {
      await server.create('certificatesigningrequests', csr(signer.replace('/', '-'), signer, plain), v1);
    }
  });

  const approve = async (name: string) => {
    const found = await server.get('certificatesigningrequests', name, v1);
    const conditions = [{ type: 'Approved', status: 'True', reason: 'x' }];
    const body = { ...found, status: { conditions } };
    return server.update('certificatesigningrequests', body, { ...v1, subresource: 'approval', user: ANN });
  };

  it('are approved by users with that permission for the signer, or for all of its domain', async () => {
    await approve('example.com-web');
    await approve('example.com-other');
    expect(await rejection(approve('example.org-web'))).toBe(
      'certificatesigningrequests.certificates.k8s.io "example.org-web" is forbidden: user not permitted to approve requests with signerName "example.org/web"',
    );
  });

  it('are signed by users with that permission for the signer', async () => {
    const status = { conditions: [{ type: 'Failed', status: 'True', reason: 'x' }] };
    const fail = async (name: string) => {
      const found = await server.get('certificatesigningrequests', name, v1);
      const body = {
        ...found,
        status: { ...found.status, conditions: [...(found.status.conditions ?? []), ...status.conditions] },
      };
      return server.update('certificatesigningrequests', body, { ...v1, subresource: 'status', user: ANN });
    };
    await fail('example.com-web');
    expect(await rejection(fail('example.com-other'))).toContain(
      'user not permitted to sign requests with signerName "example.com/other"',
    );
  });

  it('must not be for the group system:masters', async () => {
    const signer = 'kubernetes.io/kube-apiserver-client';
    const master = csr('m', signer, requestFor('/O=system:masters/CN=ann'));
    expect(await rejection(server.create('certificatesigningrequests', master, v1))).toBe(
      'certificatesigningrequests.certificates.k8s.io "m" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    await server.create('certificatesigningrequests', csr('n', signer, plain), v1);
  });
});

it('OwnerReferencesPermissionEnforcement requires permissions for the owned object and for the owner', async () => {
  const server = await admitting([ownerReferencesPermissionEnforcement], { authorization: ['RBAC'] });
  await withRights(server, [{ apiGroups: [''], resources: ['secrets'], verbs: ['delete'] }]);
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
  const user = ANN;
  for (const plural of ['secrets', 'configmaps']) await server.create(plural, { metadata: { name: 'a' } }, { user });
  const owned = { metadata: { ownerReferences: [owner] } };
  await server.patch('secrets', 'a', owned, { user });
  expect(await rejection(server.patch('configmaps', 'a', owned, { user }))).toMatch(
    /^configmaps "a" is forbidden: cannot set an ownerRef on a resource you can't delete: /,
  );
  const blocking = { metadata: { name: 'b', ownerReferences: [{ ...owner, blockOwnerDeletion: true }] } };
  expect(await rejection(server.create('secrets', blocking, { user }))).toContain(
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
  );
});
