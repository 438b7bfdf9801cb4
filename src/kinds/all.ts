/** The kinds that a server starts with: the one list. */

import { ControllerRevision } from './apps/controller-revision.ts';
import { DaemonSet } from './apps/daemon-set.ts';
import { Deployment } from './apps/deployment.ts';
import { ReplicaSet } from './apps/replica-set.ts';
import { StatefulSet } from './apps/stateful-set.ts';
import { SelfSubjectReview } from './authentication/self-subject-review.ts';
import { TokenReview } from './authentication/token-review.ts';
import { LocalSubjectAccessReview } from './authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReview } from './authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReview } from './authorization/self-subject-rules-review.ts';
import { SubjectAccessReview } from './authorization/subject-access-review.ts';
import { HorizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts';
import { CronJob } from './batch/cron-job.ts';
import { Job } from './batch/job.ts';
import { CertificateSigningRequest } from './certificates/certificate-signing-request.ts';
import { Lease } from './coordination/lease.ts';
import { Binding } from './core/binding.ts';
import { ComponentStatus } from './core/component-status.ts';
import { ConfigMap } from './core/config-map.ts';
import { Endpoints } from './core/endpoints.ts';
import { Event } from './core/event.ts';
import { LimitRange } from './core/limit-range.ts';
import { Namespace } from './core/namespace.ts';
import { Node } from './core/node.ts';
import { PersistentVolume } from './core/persistent-volume.ts';
import { PersistentVolumeClaim } from './core/persistent-volume-claim.ts';
import { Pod } from './core/pod.ts';
import { PodTemplate } from './core/pod-template.ts';
import { ReplicationController } from './core/replication-controller.ts';
import { ResourceQuota } from './core/resource-quota.ts';
import { Secret } from './core/secret.ts';
import { Service } from './core/service.ts';
import { ServiceAccount } from './core/service-account.ts';
import { EndpointSlice } from './discovery/endpoint-slice.ts';
import { FlowSchema } from './flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from './flowcontrol/priority-level-configuration.ts';
import type { Kind } from './kind.ts';
import { NodeMetrics } from './metrics/node-metrics.ts';
import { PodMetrics } from './metrics/pod-metrics.ts';
import { Ingress } from './networking/ingress.ts';
import { IngressClass } from './networking/ingress-class.ts';
import { IPAddress } from './networking/ip-address.ts';
import { NetworkPolicy } from './networking/network-policy.ts';
import { ServiceCIDR } from './networking/service-cidr.ts';
import { RuntimeClass } from './node/runtime-class.ts';
import { PodDisruptionBudget } from './policy/pod-disruption-budget.ts';
import { ClusterRole } from './rbac/cluster-role.ts';
import { ClusterRoleBinding } from './rbac/cluster-role-binding.ts';
import { Role } from './rbac/role.ts';
import { RoleBinding } from './rbac/role-binding.ts';
import { DeviceClass } from './resource/device-class.ts';
import { ResourceClaim } from './resource/resource-claim.ts';
import { ResourceClaimTemplate } from './resource/resource-claim-template.ts';
import { ResourceSlice } from './resource/resource-slice.ts';
import { PriorityClass } from './scheduling/priority-class.ts';
import { CSIDriver } from './storage/csi-driver.ts';
import { CSINode } from './storage/csi-node.ts';
import { CSIStorageCapacity } from './storage/csi-storage-capacity.ts';
import { StorageClass } from './storage/storage-class.ts';
import { VolumeAttachment } from './storage/volume-attachment.ts';
import { VolumeAttributesClass } from './storage/volume-attributes-class.ts';

export const allKinds: readonly Kind[] = [
  Binding,
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  Secret,
  Service,
  ServiceAccount,
  DaemonSet,
  Deployment,
  ReplicaSet,
  HorizontalPodAutoscaler,
  CronJob,
  Job,
  Lease,
  CertificateSigningRequest,
  EndpointSlice,
  FlowSchema,
  PriorityLevelConfiguration,
  Ingress,
  IngressClass,
  IPAddress,
  NetworkPolicy,
  ServiceCIDR,
  RuntimeClass,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  PriorityClass,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
  ComponentStatus,
  LimitRange,
  PodTemplate,
  ResourceQuota,
  ControllerRevision,
  StatefulSet,
  PodDisruptionBudget,
  SelfSubjectReview,
  TokenReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
  NodeMetrics,
  PodMetrics,
];
