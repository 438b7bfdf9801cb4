/** The controllers that a control plane runs: the one list. */
import { tokenCleaningController } from './bootstrap-tokens/cleaning.ts';
import { type ClusterInfoOptions, clusterInfoController } from './bootstrap-tokens/cluster-info.ts';
import { type ApprovingOptions, approvingController } from './certificates/approving.ts';
import { csrCleaningController } from './certificates/cleaning.ts';
import { type SignCertificate, signingController } from './certificates/signing.ts';
import { clusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.ts';
import { cronJobController } from './cron-job/cron-job.ts';
import { daemonSetController } from './daemon-set/daemon-set.ts';
import type { Controller } from './define.ts';
import { deploymentController } from './deployment/deployment.ts';
import { type DisruptionControllerOptions, disruptionController } from './disruption/disruption.ts';
import { staleDisruptionController } from './disruption/stale-targets.ts';
import { endpointSliceController } from './endpoints/endpoint-slices.ts';
import { endpointsController } from './endpoints/endpoints.ts';
import { endpointSliceMirroringController } from './endpoints/mirroring.ts';
import { ephemeralVolumeController } from './ephemeral-volume/ephemeral-volume.ts';
import { type GarbageCollectorOptions, garbageCollectorController } from './garbage-collector/garbage-collector.ts';
import {
  type HorizontalPodAutoscalerOptions,
  horizontalPodAutoscalerController,
} from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts';
import { jobController } from './job/job.ts';
import { type NamespaceControllerOptions, namespaceController } from './namespace/namespace.ts';
import { defaultClassController } from './node-directory/default-class.ts';
import { type NodeDirectoryOptions, nodeDirectoryController } from './node-directory/provisioner.ts';
import { type NodeIpamOptions, nodeIpamController } from './node-ipam/node-ipam.ts';
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle.ts';
import { volumeBinderController } from './persistent-volume/binder.ts';
import { volumeExpanderController } from './persistent-volume/expander.ts';
import { endedPodsController, orphanedPodsController, stuckPodsController } from './pod-garbage/pod-garbage.ts';
import { replicaSetController } from './replica-set/replica-set.ts';
import { replicationControllerController } from './replication-controller/replication-controller.ts';
import { resourceQuotaController } from './resource-quota/resource-quota.ts';
import { rootCaController } from './root-ca/root-ca.ts';
import { type ServiceAccountControllerOptions, serviceAccountController } from './service-account/service-account.ts';
import { statefulSetController } from './stateful-set/stateful-set.ts';

import {
  claimProtectionController,
  classProtectionController,
  volumeProtectionController,
} from './storage-protection/storage-protection.ts';
import { taintEvictionController } from './taint-eviction/taint-eviction.ts';
import { ttlAfterFinishedController } from './ttl-after-finished/ttl-after-finished.ts';

export type ControllerOptions = NamespaceControllerOptions &
  ServiceAccountControllerOptions &
  ApprovingOptions &
  ClusterInfoOptions &
  DisruptionControllerOptions &
  GarbageCollectorOptions &
  HorizontalPodAutoscalerOptions &
  NodeDirectoryOptions &
  NodeIpamOptions & { readonly signCertificate: SignCertificate };

export const allControllers = (options: ControllerOptions): readonly Controller[] => [
  approvingController(options),
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
  signingController(options.signCertificate),
  statefulSetController,
  staleDisruptionController,
  stuckPodsController,
  taintEvictionController(),
  tokenCleaningController,
  ttlAfterFinishedController,
  volumeBinderController,
  volumeExpanderController,
  volumeProtectionController,
];
