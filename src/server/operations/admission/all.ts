/** All admission plugins in execution order. ResourceQuota runs last, when everything else has been decided. */

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

const ordered: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  nodeRestriction,
  taintNodesByCondition,
  alwaysPullImages,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  extendedResourceToleration,
  defaultStorageClass,
  storageObjectInUseProtection,
  ownerReferencesPermissionEnforcement,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  clusterTrustBundleAttest,
  certificateSubjectRestriction,
  defaultIngressClass,
  denyServiceExternalIps,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
  resourceQuota,
];

const offByDefault: readonly AdmissionPlugin[] = [
  alwaysPullImages,
  extendedResourceToleration,
  ownerReferencesPermissionEnforcement,
  denyServiceExternalIps,
];

export const admissionPluginNames: readonly string[] = ordered.map(({ name }) => name);

/** Returns the active plugins: those on by default and those enabled, without those disabled. */
export function admissionPlugins(
  chosen: { readonly enabled?: readonly string[]; readonly disabled?: readonly string[] } = {},
): readonly AdmissionPlugin[] {
  const { enabled = [], disabled = [] } = chosen;
  return ordered.filter((plugin) => {
    if (disabled.includes(plugin.name)) return false;
    return !offByDefault.includes(plugin) || enabled.includes(plugin.name);
  });
}
