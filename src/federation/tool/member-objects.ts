/** Objects that a join creates: an account in the member, its credentials on the host, and the Cluster. */

import { ClusterRole } from '../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { ServiceAccount } from '../../kinds/groups/core/service-account.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import type { FederatedKind } from '../plan/kinds/federated-kind.ts';
import { federatedKinds } from '../plan/kinds/federated-kinds.ts';
import { FEDERATION_NAME, type ObjectToCreate, objectOf } from './control-plane.ts';

export interface Membership {
  readonly cluster: string;
  readonly federation: string;
  /** Namespace of the control plane, on the host and in members. */
  readonly namespace: string;
  readonly secret: string;
}

const CLUSTER_NAME = 'federation.alpha.kubernetes.io/cluster-name';
/** Annotation of a Cluster: the context of the client configuration that it has joined with. */
export const CLUSTER_CONTEXT = 'federation.kubernetes.io/cluster-context';

const accountName = ({ federation, cluster }: Pick<Membership, 'federation' | 'cluster'>) => `${cluster}-${federation}`;
export const tokenSecretName = (membership: Pick<Membership, 'federation' | 'cluster'>) =>
  `${accountName(membership)}-token`;
const roleName = (membership: Pick<Membership, 'federation' | 'cluster'>) =>
  `federation-controller-manager:${accountName(membership)}`;

/**
 * Returns the objects in the member, in the order of creation: an account that may do with federated kinds what the
 * federation does, and look at nodes, pods and endpoints; `named` are the kinds that FederatedTypes name. The namespace
 * is kept when the cluster leaves: it may be that of the control plane.
 */
export function accountObjects(
  membership: Membership,
  named: readonly Pick<FederatedKind, 'kind'>[] = [],
): readonly ObjectToCreate[] {
  const { federation, namespace } = membership;
  const annotations = { [FEDERATION_NAME]: federation };
  const metadata = (name: string, more: object = {}) => ({ name, namespace, annotations: { ...annotations, ...more } });
  const account = accountName(membership);
  const role = roleName(membership);
  return [
    objectOf(Namespace, { metadata: { name: namespace, annotations } }),
    objectOf(ServiceAccount, { metadata: metadata(account) }),
    objectOf(ClusterRole, { metadata: { name: role, annotations }, rules: rulesFor([...federatedKinds, ...named]) }),
    objectOf(ClusterRoleBinding, {
      metadata: { name: role, annotations },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    }),
    objectOf(Secret, {
      metadata: metadata(tokenSecretName(membership), { 'kubernetes.io/service-account.name': account }),
      type: 'kubernetes.io/service-account-token',
    }),
  ];
}

const WRITE = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

const rulesFor = (kinds: readonly Pick<FederatedKind, 'kind'>[]) => [
  ...kinds.map(({ kind }) => ({ apiGroups: [kind.group], resources: [kind.plural], verbs: WRITE })),
  { apiGroups: [''], resources: ['nodes', 'pods', 'endpoints'], verbs: ['get', 'list', 'watch'] },
];

interface MemberAccess {
  readonly server: string;
  /** PEM; undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  readonly token: string;
}

/** Returns the secret on the host with which the federation reaches the member. */
export function credentialsSecret(membership: Membership, { server, ca, token }: MemberAccess): ObjectToCreate {
  const { cluster: name, federation, namespace, secret } = membership;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...(ca ? { 'certificate-authority-data': base64(ca) } : {}) } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  const annotations = { [FEDERATION_NAME]: federation, [CLUSTER_NAME]: name };
  return objectOf(Secret, {
    metadata: { name: secret, namespace, annotations },
    type: 'Opaque',
    data: { kubeconfig: base64(JSON.stringify(config)) },
  });
}

export function clusterObject(
  { cluster, secret }: Membership,
  { server, context }: { readonly server: string; readonly context: string },
): ObjectToCreate {
  return objectOf(Cluster, {
    metadata: { name: cluster, annotations: { [CLUSTER_CONTEXT]: context } },
    spec: {
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: server }],
      secretRef: { name: secret },
    },
  });
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
