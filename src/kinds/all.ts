/** The kinds that a server starts with: the one list. */

import { SelfSubjectReview } from './groups/access/authentication/self-subject-review.ts';
import { TokenReview } from './groups/access/authentication/token-review.ts';
import { LocalSubjectAccessReview } from './groups/access/authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReview } from './groups/access/authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReview } from './groups/access/authorization/self-subject-rules-review.ts';
import { SubjectAccessReview } from './groups/access/authorization/subject-access-review.ts';
import { CertificateSigningRequest } from './groups/access/certificates/certificate-signing-request.ts';
import { ClusterTrustBundle } from './groups/access/certificates/cluster-trust-bundle.ts';
import { ClusterRole } from './groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from './groups/access/rbac/cluster-role-binding.ts';
import { Role } from './groups/access/rbac/role.ts';
import { RoleBinding } from './groups/access/rbac/role-binding.ts';
import { ControllerRevision } from './groups/apps/controller-revision.ts';
import { DaemonSet } from './groups/apps/daemon-set.ts';
import { Deployment } from './groups/apps/deployment.ts';
import { ReplicaSet } from './groups/apps/replica-set.ts';
import { StatefulSet } from './groups/apps/stateful-set.ts';
import { HorizontalPodAutoscaler } from './groups/autoscaling/horizontal-pod-autoscaler.ts';
import { CronJob } from './groups/batch/cron-job.ts';
import { Job } from './groups/batch/job.ts';
import { Lease } from './groups/coordination/lease.ts';
import { LeaseCandidate } from './groups/coordination/lease-candidate.ts';
import { Binding } from './groups/core/binding.ts';
import { ComponentStatus } from './groups/core/component-status.ts';
import { ConfigMap } from './groups/core/configuration/config-map.ts';
import { Secret } from './groups/core/configuration/secret.ts';
import { Event } from './groups/core/event/event.ts';
import { Namespace } from './groups/core/namespace.ts';
import { Node } from './groups/core/node/node.ts';
import { PersistentVolume } from './groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from './groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from './groups/core/pod/pod.ts';
import { PodTemplate } from './groups/core/pod/pod-template.ts';
import { LimitRange } from './groups/core/quota/limit-range.ts';
import { ResourceQuota } from './groups/core/quota/resource-quota.ts';
import { ReplicationController } from './groups/core/replication-controller.ts';
import { Endpoints } from './groups/core/service/endpoints.ts';
import { Service } from './groups/core/service/service.ts';
import { ServiceAccount } from './groups/core/service-account.ts';
import { EndpointSlice } from './groups/discovery/endpoint-slice.ts';
import { MutatingWebhookConfiguration } from './groups/extension/admissionregistration/mutating-webhook-configuration.ts';
import { MutatingAdmissionPolicy } from './groups/extension/admissionregistration/policies/mutating-admission-policy.ts';
import { MutatingAdmissionPolicyBinding } from './groups/extension/admissionregistration/policies/mutating-admission-policy-binding.ts';
import { ValidatingAdmissionPolicy } from './groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBinding } from './groups/extension/admissionregistration/policies/validating-admission-policy-binding.ts';
import { ValidatingWebhookConfiguration } from './groups/extension/admissionregistration/validating-webhook-configuration.ts';
import { CustomResourceDefinition } from './groups/extension/apiextensions/custom-resource-definition.ts';
import { APIService } from './groups/extension/apiregistration/api-service.ts';
import { FlowSchema } from './groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from './groups/flowcontrol/priority-level-configuration.ts';
import { NodeMetrics } from './groups/metrics/node-metrics.ts';
import { PodMetrics } from './groups/metrics/pod-metrics.ts';
import { Ingress } from './groups/networking/ingress.ts';
import { IngressClass } from './groups/networking/ingress-class.ts';
import { IPAddress } from './groups/networking/ip-address.ts';
import { NetworkPolicy } from './groups/networking/network-policy.ts';
import { ServiceCIDR } from './groups/networking/service-cidr.ts';
import { RuntimeClass } from './groups/node/runtime-class.ts';
import { PodDisruptionBudget } from './groups/policy/pod-disruption-budget.ts';
import { DeviceClass } from './groups/resource/device-class.ts';
import { ResourceClaim } from './groups/resource/resource-claim.ts';
import { ResourceClaimTemplate } from './groups/resource/resource-claim-template.ts';
import { ResourceSlice } from './groups/resource/resource-slice.ts';
import { PriorityClass } from './groups/scheduling/priority-class.ts';
import { CSIDriver } from './groups/storage/csi-driver.ts';
import { CSINode } from './groups/storage/csi-node.ts';
import { CSIStorageCapacity } from './groups/storage/csi-storage-capacity.ts';
import { StorageVersionMigration } from './groups/storage/migration/storage-version-migration.ts';
import { StorageClass } from './groups/storage/storage-class.ts';
import { VolumeAttachment } from './groups/storage/volume-attachment.ts';
import { VolumeAttributesClass } from './groups/storage/volume-attributes-class.ts';
import type { Kind } from './kind.ts';

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
  LeaseCandidate,
  CertificateSigningRequest,
  ClusterTrustBundle,
  APIService,
  CustomResourceDefinition,
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
  StorageVersionMigration,
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
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
];
