/** RBAC objects that let machines join with a token, and let nodes renew their certificates. */
import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly, KindRef } from '../../../api/object-types.ts';
import { JOIN_PATH, JOIN_VERB } from '../../../assembly/etcd/join/bundle.ts';
import type { Client } from '../../../client/client.ts';
import { ClusterRole } from '../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { Role } from '../../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../../kinds/groups/access/rbac/role-binding.ts';

const RBAC = 'rbac.authorization.k8s.io';
const CLUSTER_INFO = 'quarterdeck:cluster-info';

import type { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { SERVER_GROUP } from './flags.ts';

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

/**
 * Lets the holder of one token join as a server. The rights belong to the token's Secret, and go with it: a Secret that somebody else
 * makes with the same name has none.
 */
export async function letServersJoin(client: Client, secret: DeepReadonly<Secret>): Promise<void> {
  const { name = '', namespace = '', uid = '' } = secret.metadata;
  const role = 'quarterdeck:server-join';
  await ensure(client, ClusterRole, {
    metadata: { name: role },
    rules: [{ nonResourceURLs: [JOIN_PATH], verbs: ['post'] }],
  });
  await ensure(client, ClusterRoleBinding, {
    metadata: { name: role },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'Group', apiGroup: RBAC, name: SERVER_GROUP }],
  });
  const metadata = {
    name: `${role}:${name}`,
    namespace,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name, uid }],
  };
  const user = name.replace('bootstrap-token-', 'system:bootstrap:');
  await client.of(Role).create({
    metadata,
    rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: [JOIN_VERB] }],
  });
  await client.of(RoleBinding).create({
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'User', apiGroup: RBAC, name: user }],
  });
}

async function ensure(client: Client, kind: KindRef, object: object): Promise<void> {
  try {
    await client.of(kind).create(object);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}
