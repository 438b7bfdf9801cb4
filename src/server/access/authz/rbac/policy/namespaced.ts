/** Roles in single namespaces. */
import type { PolicyRule } from '../../../../../kinds/groups/access/rbac/policy-rule.ts';
import { EVENTS, on, READ } from './rule.ts';

interface NamespacedRole {
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

export const namespacedRoles: readonly NamespacedRole[] = [
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
