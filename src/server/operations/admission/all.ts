/** All admission plugins, by name; `names.ts` has the order. */
import { type AdmissionPluginName, admissionPluginNames } from './names.ts';
import type { AdmissionPlugin } from './plugin.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates/certificates.ts';
import { defaultIngressClass } from './plugins/default-ingress-class.ts';
import { defaultStorageClass } from './plugins/default-storage-class.ts';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.ts';
import { limitRanger } from './plugins/limit-ranger/limit-ranger.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { nodeRestriction } from './plugins/node-restriction/restriction.ts';
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { podSecurity } from './plugins/pod-security/pod-security.ts';
import { alwaysPullImages } from './plugins/pods/always-pull-images.ts';
import { defaultTolerationSeconds } from './plugins/pods/default-toleration-seconds.ts';
import { extendedResourceToleration } from './plugins/pods/extended-resource-toleration.ts';
import { priority } from './plugins/pods/priority.ts';
import { runtimeClass } from './plugins/pods/runtime-class.ts';
import { resourceQuota } from './plugins/resource-quota/resource-quota.ts';
import { serviceAccount } from './plugins/service-account/service-account.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';
import { mutatingAdmissionPolicy } from './policies/mutating.ts';
import { validatingAdmissionPolicy } from './policies/validating.ts';
import { mutatingAdmissionWebhook } from './webhooks/mutating.ts';
import { validatingAdmissionWebhook } from './webhooks/validating.ts';

const plugins: Readonly<Record<AdmissionPluginName, AdmissionPlugin>> = {
  NamespaceLifecycle: namespaceLifecycle,
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: taintNodesByCondition,
  AlwaysPullImages: alwaysPullImages,
  PodSecurity: podSecurity,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  ExtendedResourceToleration: extendedResourceToleration,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  ClusterTrustBundleAttest: clusterTrustBundleAttest,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyServiceExternalIps,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  MutatingAdmissionWebhook: mutatingAdmissionWebhook,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingAdmissionWebhook,
  ResourceQuota: resourceQuota,
};

const offByDefault: readonly AdmissionPluginName[] = [
  'AlwaysPullImages',
  'ExtendedResourceToleration',
  'OwnerReferencesPermissionEnforcement',
  'DenyServiceExternalIPs',
];

/** Returns the active plugins: those on by default and those enabled, without those disabled. */
export function admissionPlugins(
  chosen: { readonly enabled?: readonly string[]; readonly disabled?: readonly string[] } = {},
): readonly AdmissionPlugin[] {
  const { enabled = [], disabled = [] } = chosen;
  const isActive = (name: AdmissionPluginName) =>
    !disabled.includes(name) && (!offByDefault.includes(name) || enabled.includes(name));
  return admissionPluginNames.filter(isActive).map((name) => plugins[name]);
}
