/**
 * Every admission plugin, in the order in which they are asked: first what fills in, and quotas last, when everything
 * else has been decided.
 */
import { nodeRestriction } from '../authz/node/restriction.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { denyServiceExternalIps } from './deny-service-external-ips.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { podSecurity } from './pod-security/pod-security.ts';
import { priority } from './priority.ts';
import { resourceQuota } from './resource-quota.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';

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
  certificateSubjectRestriction,
  defaultIngressClass,
  denyServiceExternalIps,
  resourceQuota,
];

/** These are there only when they are asked for. */
const offByDefault: readonly AdmissionPlugin[] = [
  alwaysPullImages,
  extendedResourceToleration,
  ownerReferencesPermissionEnforcement,
  denyServiceExternalIps,
];

/** The names that clients of Kubernetes know, in the order of the chain. */
export const admissionPluginNames: readonly string[] = ordered.map(({ name }) => name);

/** The chain: what is there by default, with what is enabled and without what is disabled. */
export function admissionPlugins(
  chosen: { readonly enabled?: readonly string[]; readonly disabled?: readonly string[] } = {},
): readonly AdmissionPlugin[] {
  const { enabled = [], disabled = [] } = chosen;
  return ordered.filter((plugin) => {
    if (disabled.includes(plugin.name)) return false;
    return !offByDefault.includes(plugin) || enabled.includes(plugin.name);
  });
}
