/** RBAC objects that let machines join with a token, and let nodes renew their certificates. */
import { isApiError } from '../../../api/errors.ts';
import type { KindRef } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { Role } from '../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/access/rbac/role-binding.ts';

const RBAC = 'rbac.authorization.k8s.io';
const CLUSTER_INFO = 'quarterdeck:cluster-info';

/** Creates what is missing; existing objects stay as they are. */
export async function letNodesJoin(client: Client, groups: readonly string[]): Promise<void> {
  const members = groups.map((name) => ({ kind: 'Group', apiGroup: RBAC, name }));
  const nodes = [{ kind: 'Group', apiGroup: RBAC, name: 'system:nodes' }];
  const requests = 'system:certificates.k8s.io:certificatesigningrequests';
  const bind = (name: string, role: string, subjects: readonly object[]) =>
    ensure(client, ClusterRoleBinding, {
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
      subjects,
    });
  await bind('quarterdeck:node-bootstrap', 'system:node-bootstrapper', members);
  await bind('quarterdeck:node-approval', `${requests}:nodeclient`, members);
  await bind('quarterdeck:node-renewal', `${requests}:selfnodeclient`, nodes);
  const metadata = { name: CLUSTER_INFO, namespace: 'kube-public' };
  await ensure(client, Role, {
    metadata,
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }],
  });
  await ensure(client, RoleBinding, {
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: CLUSTER_INFO },
    subjects: members,
  });
}

async function ensure(client: Client, kind: KindRef, object: object): Promise<void> {
  try {
    await client.of(kind).create(object);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}
