/**
 * The roles for people: view reads, edit also writes, admin also manages roles, each in a namespace or everywhere. All
 * three aggregate rules by label, from these roles and any others with the labels.
 */
import type { PolicyRule } from '../../../../../kinds/groups/access/rbac/policy-rule.ts';
import { ALL, on, READ, WRITE } from './rule.ts';

export const peoplesRules: Readonly<Record<'admin' | 'edit' | 'view', readonly PolicyRule[]>> = {
  admin: [
    on('authorization.k8s.io', 'localsubjectaccessreviews', 'create'),
    on('rbac.authorization.k8s.io', 'rolebindings roles', ALL),
  ],
  edit: [
    on('core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy', READ),
    on('core', 'serviceaccounts', 'impersonate'),
    on('core', 'pods pods/attach pods/exec pods/portforward pods/proxy', WRITE),
    on('core', 'pods/eviction', 'create'),
    on(
      'core',
      'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      WRITE,
    ),
    on('core', 'serviceaccounts/token', 'create'),
    on('core events.k8s.io', 'events', WRITE),
    on(
      'apps',
      'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      WRITE,
    ),
    on('autoscaling', 'horizontalpodautoscalers', WRITE),
    on('batch', 'cronjobs jobs', WRITE),
    on(
      'extensions',
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      WRITE,
    ),
    on('policy', 'poddisruptionbudgets', WRITE),
    on('networking.k8s.io', 'ingresses networkpolicies', WRITE),
    on('coordination.k8s.io', 'leases', ALL),
    on('resource.k8s.io', 'resourceclaims resourceclaimtemplates', WRITE),
  ],
  view: [
    on(
      'core',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      READ,
    ),
    on(
      'core',
      'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      READ,
    ),
    on('core', 'namespaces', READ),
    on('core events.k8s.io', 'events', READ),
    on('discovery.k8s.io', 'endpointslices', READ),
    on(
      'apps',
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      READ,
    ),
    on('autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status', READ),
    on('batch', 'cronjobs cronjobs/status jobs jobs/status', READ),
    on(
      'extensions',
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      READ,
    ),
    on('policy', 'poddisruptionbudgets poddisruptionbudgets/status', READ),
    on('networking.k8s.io', 'ingresses ingresses/status networkpolicies', READ),
    on('resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates', READ),
  ],
};

/** Aggregated into all three: resource metrics. In Kubernetes, the metrics server installs this role. */
export const metricsReader: readonly PolicyRule[] = [on('metrics.k8s.io', 'nodes pods', READ)];
