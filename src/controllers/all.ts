/** Lists all controllers of a control plane. */

import {
  type GarbageCollectorOptions,
  garbageCollectorController,
} from './cleanup/garbage-collector/garbage-collector.ts';
import { type NamespaceControllerOptions, namespaceController } from './cleanup/namespace/namespace.ts';
import { endedPodsController, orphanedPodsController, stuckPodsController } from './cleanup/pod-garbage/pod-garbage.ts';
import { ttlAfterFinishedController } from './cleanup/ttl-after-finished/ttl-after-finished.ts';
import {
  type ClusterInfoOptions,
  clusterInfoController,
  tokenCleaningController,
} from './identity/bootstrap-tokens/bootstrap-tokens.ts';
import { type ApprovingOptions, approvingController } from './identity/certificates/approving.ts';
import { csrCleaningController } from './identity/certificates/cleaning.ts';
import { type SignCertificate, signingController } from './identity/certificates/signing.ts';
import { clusterRoleAggregationController } from './identity/cluster-role-aggregation/cluster-role-aggregation.ts';
import { rootCaController } from './identity/root-ca/root-ca.ts';
import {
  type ServiceAccountControllerOptions,
  serviceAccountController,
} from './identity/service-account/service-account.ts';
import type { Controller } from './loop/define.ts';
import { endpointSliceController } from './networking/endpoints/endpoint-slices.ts';
import { endpointsController } from './networking/endpoints/endpoints.ts';
import { endpointSliceMirroringController } from './networking/endpoints/mirroring.ts';
import { type LoadBalancerOptions, loadBalancerController } from './networking/load-balancer/load-balancer.ts';
import { serviceCidrController } from './networking/service-cidr/service-cidr.ts';
import { type NodeIpamOptions, nodeIpamController } from './nodes/node-ipam/node-ipam.ts';
import { nodeLifecycleController } from './nodes/node-lifecycle/node-lifecycle.ts';
import { taintEvictionController } from './nodes/taint-eviction/taint-eviction.ts';
import { disruptionController, staleDisruptionController } from './policy/disruption/disruption.ts';
import { resourceQuotaController } from './policy/resource-quota/resource-quota.ts';
import { typeCheckingController } from './policy/type-checking/type-checking.ts';
import { attachDetachController } from './storage/attach-detach/attach-detach.ts';
import { ephemeralVolumeController } from './storage/ephemeral-volume/ephemeral-volume.ts';
import { defaultClassController } from './storage/node-directory/default-class.ts';
import { type NodeDirectoryOptions, nodeDirectoryController } from './storage/node-directory/provisioner.ts';
import { volumeBinderController } from './storage/persistent-volume/binder.ts';
import { volumeExpanderController } from './storage/persistent-volume/expander.ts';
import {
  claimProtectionController,
  classProtectionController,
  volumeProtectionController,
} from './storage/storage-protection/storage-protection.ts';
import { storageVersionMigrationController } from './storage-version-migration/storage-version-migration.ts';
import { cronJobController } from './workloads/cron-job/cron-job.ts';
import { daemonSetController } from './workloads/daemon-set/daemon-set.ts';
import { deploymentController } from './workloads/deployment/deployment.ts';
import { horizontalPodAutoscalerController } from './workloads/horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts';
import { jobController } from './workloads/job/job.ts';
import { replicaSetController, replicationControllerController } from './workloads/replica-set/replica-set.ts';
import { statefulSetController } from './workloads/stateful-set/stateful-set.ts';

export type ControllerOptions = NamespaceControllerOptions &
  ServiceAccountControllerOptions &
  ApprovingOptions &
  ClusterInfoOptions &
  GarbageCollectorOptions &
  LoadBalancerOptions &
  NodeDirectoryOptions &
  NodeIpamOptions & { readonly signCertificate: SignCertificate };

export const allControllers = (options: ControllerOptions): readonly Controller[] => [
  approvingController(options),
  attachDetachController,
  claimProtectionController,
  classProtectionController,
  clusterInfoController(options),
  clusterRoleAggregationController,
  cronJobController(),
  csrCleaningController,
  daemonSetController(),
  defaultClassController,
  deploymentController,
  disruptionController(options),
  endpointSliceController,
  endpointSliceMirroringController,
  endpointsController,
  endedPodsController,
  ephemeralVolumeController,
  garbageCollectorController(options),
  horizontalPodAutoscalerController(options),
  jobController(),
  loadBalancerController(options),
  namespaceController(options),
  nodeDirectoryController(options),
  ...(options.podRange ? [nodeIpamController(options.podRange)] : []),
  nodeLifecycleController(),
  orphanedPodsController(),
  replicaSetController,
  replicationControllerController,
  resourceQuotaController(options),
  rootCaController(options.authority),
  serviceAccountController(options),
  serviceCidrController,
  signingController(options.signCertificate),
  statefulSetController,
  storageVersionMigrationController(options),
  staleDisruptionController,
  stuckPodsController,
  taintEvictionController(),
  tokenCleaningController,
  ttlAfterFinishedController,
  typeCheckingController(options),
  volumeBinderController,
  volumeExpanderController,
  volumeProtectionController,
];
