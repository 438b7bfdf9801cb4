/** The default roles and bindings of a cluster, as objects. The other files of this folder contain their rules. */
import { gatheredRules } from '../../../../../kinds/groups/access/rbac/aggregation.ts';
import type { PolicyRule } from '../../../../../kinds/groups/access/rbac/policy-rule.ts';
import { GROUP } from '../../../../../kinds/groups/access/rbac/role-ref.ts';
import type { Subject } from '../../../../../kinds/groups/access/rbac/subject.ts';
import { controllerRules } from './controllers.ts';
import { metricsReader, peoplesRules } from './people.ts';
import { EVENTS, on, onPaths, READ } from './rule.ts';
import { systemRules } from './system.ts';

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface DefaultRole {
  readonly metadata: Metadata;
  readonly rules: readonly PolicyRule[];
  readonly aggregationRule?: { readonly clusterRoleSelectors: { readonly matchLabels: Record<string, string> }[] };
}

export interface DefaultBinding {
  readonly metadata: Metadata;
  readonly roleRef: { readonly apiGroup: string; readonly kind: 'Role' | 'ClusterRole'; readonly name: string };
  readonly subjects: readonly Subject[];
}

export interface Policy {
  readonly clusterRoles: readonly DefaultRole[];
  readonly clusterRoleBindings: readonly DefaultBinding[];
  readonly roles: readonly DefaultRole[];
  readonly roleBindings: readonly DefaultBinding[];
}

/** An annotation: with the value `false`, the object is not reconciled at startup. */
export const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

/** Builds the policy on every call, since it is needed only at startup. */
export function defaultPolicy(): Policy {
  return {
    clusterRoles: clusterRoles(),
    clusterRoleBindings: [
      ...Object.entries(CLUSTER_SUBJECTS).map(([name, subjects]) => clusterBinding(name, subjects)),
      ...Object.keys(controllerRules).map((name) => clusterBinding(`system:controller:${name}`, [account(name)])),
    ],
    roles: namespacedRoles.map(({ namespace, name, rules }) => ({ metadata: metadata(name, { namespace }), rules })),
    roleBindings: Object.entries(LOCAL_SUBJECTS).map(([path, { role, subjects }]) => {
      const [namespace, name = ''] = path.split('/');
      const roleRef = { apiGroup: GROUP, kind: 'Role' as const, name: role ?? name };
      return { metadata: metadata(name, { namespace }), roleRef, subjects };
    }),
  };
}

function clusterRoles(): DefaultRole[] {
  const plain: DefaultRole[] = [
    { metadata: metadata('cluster-admin'), rules: [on('*', '*', '*'), onPaths('*', '*')] },
    ...named('system:', systemRules),
    ...named('system:controller:', controllerRules),
    ...Object.entries(peoplesRules).map(([name, rules]) => ({
      metadata: metadata(`system:aggregate-to-${name}`, { labels: partOf(name) }),
      rules,
    })),
    {
      metadata: metadata('system:aggregated-metrics-reader', {
        labels: { ...partOf('admin'), ...partOf('edit'), ...partOf('view') },
      }),
      rules: metricsReader,
    },
  ];
  // Aggregated roles already have their rules, so nothing has to wait for the aggregation controller.
  const all = [...plain];
  for (const [name, labels] of [
    ['view', partOf('edit')],
    ['edit', partOf('admin')],
    ['admin', {}],
  ] as const) {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: partOf(name) }] };
    const role = { metadata: metadata(name, { labels }), rules: [], aggregationRule };
    all.push({ ...role, rules: gatheredRules(role, all) });
  }
  return all;
}

function named(prefix: string, rules: Readonly<Record<string, readonly PolicyRule[]>>): DefaultRole[] {
  return Object.entries(rules).map(([name, own]) => ({ metadata: metadata(`${prefix}${name}`), rules: own }));
}

const user = (name: string): Subject => ({ kind: 'User', apiGroup: GROUP, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: GROUP, name });
const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' });

/** The subjects of ClusterRoleBindings, by role name. */
const CLUSTER_SUBJECTS: Readonly<Record<string, readonly Subject[]>> = {
  'cluster-admin': [group('system:masters')],
  'system:basic-user': [group('system:authenticated')],
  'system:coredns': [account('kube-dns'), account('coredns')],
  'system:discovery': [group('system:authenticated')],
  'system:history': [group('system:authenticated')],
  'system:ingress-controller': [account('ingress-controller')],
  'system:kube-controller-manager': [user('system:kube-controller-manager')],
  'system:kube-dns': [account('kube-dns')],
  'system:kube-scheduler': [user('system:kube-scheduler')],
  'system:monitoring': [group('system:monitoring')],
  // The agent of a node enforces network policies, too.
  'system:network-policies': [user('system:kube-proxy'), group('system:nodes')],
  // Empty: nodes are authorized by the node authorizer. Administrators may add subjects.
  'system:node': [],
  // An addition to Kubernetes: the group of nodes, because the agent of a node is its service proxy, too.
  'system:node-proxier': [user('system:kube-proxy'), group('system:nodes')],
  'system:public-info-viewer': [group('system:authenticated'), group('system:unauthenticated')],
  'system:cluster-trust-bundle-discovery': [group('system:serviceaccounts')],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
  'system:simulated-nodes': [user('system:simulated-nodes')],
  'system:volume-scheduler': [user('system:kube-scheduler')],
};

/** The subjects of RoleBindings. The name of the role defaults to the name of the binding. */
const LOCAL_SUBJECTS: Readonly<Record<string, { readonly role?: string; readonly subjects: readonly Subject[] }>> = {
  'kube-public/system:controller:bootstrap-signer': { subjects: [account('bootstrap-signer')] },
  'kube-public/system::node-authority': { subjects: [group('system:nodes')] },
  'kube-system/system::extension-apiserver-authentication-reader': {
    role: 'extension-apiserver-authentication-reader',
    subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
  },
  'kube-system/system::kube-dns': { subjects: [account('kube-dns')] },
  'kube-system/system::leader-locking-kube-controller-manager': {
    subjects: [
      user('system:kube-controller-manager'),
      account('kube-controller-manager'),
      account('leader-election-controller'),
    ],
  },
  'kube-system/system::leader-locking-kube-scheduler': {
    subjects: [user('system:kube-scheduler'), account('kube-scheduler')],
  },
  'kube-system/system:controller:bootstrap-signer': { subjects: [account('bootstrap-signer')] },
  'kube-system/system:controller:cloud-provider': { subjects: [account('cloud-provider')] },
  'kube-system/system:controller:token-cleaner': { subjects: [account('token-cleaner')] },
};

function clusterBinding(name: string, subjects: readonly Subject[]): DefaultBinding {
  return { metadata: metadata(name), roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name }, subjects };
}

function partOf(name: string): Record<string, string> {
  return { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' };
}

function metadata(
  name: string,
  { namespace, labels = {} }: { namespace?: string | undefined; labels?: Readonly<Record<string, string>> } = {},
): Metadata {
  return {
    name,
    ...(namespace ? { namespace } : {}),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [AUTOUPDATE]: 'true' },
  };
}

interface NamespacedRole {
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

const namespacedRoles: readonly NamespacedRole[] = [
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    rules: [
      on('core', 'configmaps', READ),
      on('core', 'configmaps', 'update', 'cluster-info'),
      EVENTS,
      // An addition to Kubernetes, where kubeadm creates `cluster-info`.
      on('core', 'configmaps', 'create'),
    ],
  },
  {
    namespace: 'kube-public',
    // An addition to Kubernetes: nodes follow the authorities of the cluster.
    name: 'system::node-authority',
    rules: [on('core', 'configmaps', READ, 'kube-root-ca.crt')],
  },
  {
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication-reader',
    rules: [on('core', 'configmaps', READ, 'extension-apiserver-authentication')],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    rules: [
      on('coordination.k8s.io', 'leases', 'create get list update watch'),
      on('coordination.k8s.io', 'leasecandidates', 'create get list update watch'),
    ],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    rules: [
      on('coordination.k8s.io', 'leases', 'create get list update watch'),
      on('coordination.k8s.io', 'leasecandidates', 'create get list update watch'),
    ],
  },
  {
    namespace: 'kube-system',
    // An addition to Kubernetes, where an administrator creates the service.
    name: 'system::kube-dns',
    rules: [
      on('core', 'endpoints services', 'create'),
      on('discovery.k8s.io', 'endpointslices', 'create'),
      on('core', 'endpoints services', 'get patch', 'kube-dns'),
      on('discovery.k8s.io', 'endpointslices', 'delete get patch', 'kube-dns'),
      on('core', 'configmaps', 'get list watch', 'kube-dns'),
    ],
  },
  { namespace: 'kube-system', name: 'system:controller:bootstrap-signer', rules: [on('core', 'secrets', READ)] },
  {
    namespace: 'kube-system',
    name: 'system:controller:cloud-provider',
    rules: [on('core', 'configmaps', 'create get list watch')],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:token-cleaner',
    rules: [on('core', 'secrets', 'delete get list watch'), EVENTS],
  },
];
