import type { FieldNumbers } from './field-numbers.ts';

const roles: FieldNumbers[string] = {
  AggregationRule: 'clusterRoleSelectors',
  ClusterRole: 'metadata rules aggregationRule',
  ClusterRoleBinding: 'metadata subjects roleRef',
  PolicyRule: 'verbs apiGroups resources resourceNames nonResourceURLs',
  Role: 'metadata rules',
  RoleBinding: 'metadata subjects roleRef',
  RoleRef: 'apiGroup kind name',
  Subject: 'kind apiGroup name namespace',
};

export const rbac: FieldNumbers = {
  'rbac.authorization.k8s.io/v1': roles,
  'rbac.authorization.k8s.io/v1beta1': roles,
};
