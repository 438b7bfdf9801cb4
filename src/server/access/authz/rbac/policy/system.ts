/** The roles of the cluster's components and of all users, by name without the prefix `system:`. */
import type { PolicyRule } from '../../../../../kinds/groups/access/rbac/policy-rule.ts';
import { ALL, EVENTS, on, onPaths, READ, READ_UPDATE } from './rule.ts';

export const systemRules: Readonly<Record<string, readonly PolicyRule[]>> = {
  'auth-delegator': [
    on('authentication.k8s.io', 'tokenreviews', 'create'),
    on('authorization.k8s.io', 'subjectaccessreviews', 'create'),
  ],
  'basic-user': [
    on('authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews', 'create'),
    on('authentication.k8s.io', 'selfsubjectreviews', 'create'),
  ],
  'certificates.k8s.io:certificatesigningrequests:nodeclient': [
    on('certificates.k8s.io', 'certificatesigningrequests/nodeclient', 'create'),
  ],
  'certificates.k8s.io:certificatesigningrequests:selfnodeclient': [
    on('certificates.k8s.io', 'certificatesigningrequests/selfnodeclient', 'create'),
  ],
  'certificates.k8s.io:kube-apiserver-client-approver': [
    on('certificates.k8s.io', 'signers', 'approve', 'kubernetes.io/kube-apiserver-client'),
  ],
  'certificates.k8s.io:kube-apiserver-client-kubelet-approver': [
    on('certificates.k8s.io', 'signers', 'approve', 'kubernetes.io/kube-apiserver-client-kubelet'),
  ],
  'certificates.k8s.io:kubelet-serving-approver': [
    on('certificates.k8s.io', 'signers', 'approve', 'kubernetes.io/kubelet-serving'),
  ],
  'certificates.k8s.io:legacy-unknown-approver': [
    on('certificates.k8s.io', 'signers', 'approve', 'kubernetes.io/legacy-unknown'),
  ],
  discovery: [
    onPaths('/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/', 'get'),
  ],
  heapster: [on('core', 'events namespaces nodes pods', READ), on('extensions', 'deployments', READ)],
  // An addition to Kubernetes. What the answers contain is authorized object by object.
  history: [onPaths('/history /history/changes', 'get'), onPaths('/history/undo', 'post')],
  // An addition to Kubernetes, which has no such controller.
  'ingress-controller': [
    on('networking.k8s.io', 'ingresses ingressclasses', 'list watch'),
    on('networking.k8s.io', 'ingressclasses', 'create'),
    on('networking.k8s.io', 'ingresses/status', 'patch'),
    EVENTS,
    on('core', 'secrets services', 'list watch'),
    on('discovery.k8s.io', 'endpointslices', 'list watch'),
  ],
  'kube-aggregator': [on('core', 'endpoints services', READ)],
  'kube-controller-manager': [
    EVENTS,
    on('coordination.k8s.io', 'leases', 'create'),
    on('coordination.k8s.io', 'leases', 'get update', 'kube-controller-manager'),
    on('core', 'secrets serviceaccounts', 'create'),
    on('core', 'secrets', 'delete'),
    on('core', 'configmaps namespaces secrets serviceaccounts', 'get'),
    on('core', 'secrets serviceaccounts', 'update'),
    on('authentication.k8s.io', 'tokenreviews', 'create'),
    on('authorization.k8s.io', 'subjectaccessreviews', 'create'),
    on('*', '*', 'list watch'),
    on('core', 'serviceaccounts/token', 'create'),
  ],
  // An addition to Kubernetes, where CoreDNS installs this role. Nodes: their addresses may send queries.
  coredns: [
    on('core', 'endpoints nodes pods services', 'list watch'),
    on('discovery.k8s.io', 'endpointslices', 'list watch'),
  ],
  'kube-dns': [on('core', 'endpoints services', 'list watch')],
  'kube-scheduler': [
    EVENTS,
    on('coordination.k8s.io', 'leases', 'create'),
    on('coordination.k8s.io', 'leases', 'get list update watch', 'kube-scheduler'),
    on('coordination.k8s.io', 'leasecandidates', ALL),
    on('core', 'nodes', READ),
    on('core', 'pods', 'delete get list watch'),
    on('core', 'bindings pods/binding', 'create'),
    on('core', 'pods/status', 'patch update'),
    on('core', 'replicationcontrollers services', READ),
    on('apps extensions', 'replicasets', READ),
    on('apps', 'statefulsets', READ),
    on('policy', 'poddisruptionbudgets', READ),
    on('core', 'persistentvolumeclaims persistentvolumes', READ),
    on('authentication.k8s.io', 'tokenreviews', 'create'),
    on('authorization.k8s.io', 'subjectaccessreviews', 'create'),
    on('storage.k8s.io', 'csinodes', READ),
    on('storage.k8s.io', 'volumeattachments', READ),
    on('core', 'namespaces', READ),
    on('storage.k8s.io', 'csidrivers', READ),
    on('storage.k8s.io', 'csistoragecapacities', READ),
    on('resource.k8s.io', 'deviceclasses', READ),
    on('resource.k8s.io', 'resourceclaims', READ_UPDATE),
    on('resource.k8s.io', 'resourceclaims/status', READ_UPDATE),
    on('core', 'pods/finalizers', 'update'),
    on('resource.k8s.io', 'resourceslices', READ),
    on('resource.k8s.io', 'resourceclaims', 'create delete'),
    on('resource.k8s.io', 'resourceclaims/binding', 'patch update'),
  ],
  'kubelet-api-admin': [
    on('core', 'nodes', READ),
    on('core', 'nodes', 'proxy'),
    on('core', 'nodes/log nodes/metrics nodes/proxy nodes/stats', '*'),
    on('core', 'nodes/configz nodes/healthz nodes/pods', '*'),
  ],
  monitoring: [
    onPaths('/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz', 'get'),
    on('core', 'nodes/metrics', 'get'),
  ],
  node: [
    on('authentication.k8s.io', 'tokenreviews', 'create'),
    on('authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews', 'create'),
    on('core', 'services', READ),
    on('core', 'nodes', 'create get list watch'),
    on('core', 'nodes/status', 'patch update'),
    on('core', 'nodes', 'patch update'),
    EVENTS,
    on('core', 'pods', READ),
    on('core', 'pods', 'create delete'),
    on('core', 'pods/status', 'patch update'),
    on('core', 'pods/eviction', 'create'),
    on('core', 'configmaps secrets', READ),
    on('core', 'persistentvolumeclaims persistentvolumes', 'get'),
    on('core', 'endpoints', 'get'),
    on('certificates.k8s.io', 'certificatesigningrequests', 'create get list watch'),
    on('coordination.k8s.io', 'leases', 'create delete get patch update'),
    on('storage.k8s.io', 'volumeattachments', 'get'),
    on('core', 'serviceaccounts/token', 'create'),
    on('core', 'persistentvolumeclaims/status', 'get patch update'),
    on('storage.k8s.io', 'csidrivers', READ),
    on('storage.k8s.io', 'csinodes', 'create delete get patch update'),
    on('node.k8s.io', 'runtimeclasses', READ),
    on('resource.k8s.io', 'resourceclaims', 'get'),
    on('resource.k8s.io', 'resourceslices', 'deletecollection'),
    on('core', 'serviceaccounts', 'get'),
    on('certificates.k8s.io', 'clustertrustbundles', READ),
  ],
  'node-bootstrapper': [on('certificates.k8s.io', 'certificatesigningrequests', 'create get list watch')],
  'node-problem-detector': [on('core', 'nodes', 'get'), on('core', 'nodes/status', 'patch'), EVENTS],
  'node-proxier': [
    on('core', 'endpoints services', 'list watch'),
    on('core', 'nodes', READ),
    EVENTS,
    on('networking.k8s.io', 'servicecidrs', 'list watch'),
    on('discovery.k8s.io', 'endpointslices', 'list watch'),
  ],
  // An addition to Kubernetes: the component that enforces network policies on a node.
  'network-policies': [
    on('core', 'namespaces pods', 'list watch'),
    on('networking.k8s.io', 'networkpolicies', 'list watch'),
  ],
  'persistent-volume-provisioner': [
    on('core', 'persistentvolumes', 'create delete get list watch'),
    on('core', 'persistentvolumeclaims', 'get list update watch'),
    on('storage.k8s.io', 'storageclasses', READ),
    on('core', 'events', 'watch'),
    EVENTS,
  ],
  'public-info-viewer': [onPaths('/healthz /livez /readyz /version /version/', 'get')],
  'cluster-trust-bundle-discovery': [on('certificates.k8s.io', 'clustertrustbundles', READ)],
  'service-account-issuer-discovery': [
    onPaths(
      '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
      'get',
    ),
  ],
  // An addition to Kubernetes: permissions shared by all simulated nodes. Each one writes as itself, under the node
  // authorizer.
  'simulated-nodes': [on('core', 'nodes persistentvolumes pods', 'list watch'), on('core', 'nodes', 'patch')],
  'volume-scheduler': [
    on('core', 'persistentvolumes', READ_UPDATE),
    on('storage.k8s.io', 'storageclasses', READ),
    on('core', 'persistentvolumeclaims', READ_UPDATE),
  ],
};
