/** Kinds that are ready to join the one list. */
import { CertificateSigningRequest } from './certificates/certificate-signing-request.ts';
import { EndpointSlice } from './discovery/endpoint-slice.ts';
import { FlowSchema } from './flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from './flowcontrol/priority-level-configuration.ts';
import type { Kind } from './kind.ts';
import { Ingress } from './networking/ingress.ts';
import { IngressClass } from './networking/ingress-class.ts';
import { IPAddress } from './networking/ip-address.ts';
import { NetworkPolicy } from './networking/network-policy.ts';
import { ServiceCIDR } from './networking/service-cidr.ts';
import { RuntimeClass } from './node/runtime-class.ts';
import { ClusterRole } from './rbac/cluster-role.ts';
import { ClusterRoleBinding } from './rbac/cluster-role-binding.ts';
import { Role } from './rbac/role.ts';
import { RoleBinding } from './rbac/role-binding.ts';
import { PriorityClass } from './scheduling/priority-class.ts';
import { CSIDriver } from './storage/csi-driver.ts';
import { CSINode } from './storage/csi-node.ts';
import { CSIStorageCapacity } from './storage/csi-storage-capacity.ts';
import { StorageClass } from './storage/storage-class.ts';
import { VolumeAttachment } from './storage/volume-attachment.ts';
import { VolumeAttributesClass } from './storage/volume-attributes-class.ts';

export const nextKindsA: readonly Kind[] = [
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
];
