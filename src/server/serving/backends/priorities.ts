/** The discovery priorities of the groups and versions that this server serves itself, as in Kubernetes. */
import { splitApiVersion } from '../../../kinds/kind.ts';
import type { BackendPriority } from '../backend.ts';

const GROUPS: Readonly<Record<string, number>> = {
  'apiregistration.k8s.io': 20_000,
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'internal.apiserver.k8s.io': 16_000,
  'storagemigration.k8s.io': 15_800,
  'metrics.k8s.io': 15_000,
  /** The group of kinds that have moved: clients use the first group that lists a resource, so it comes last. */
  extensions: 1,
};

/** Priority of a group that Kubernetes does not have: only names of custom kinds' groups have a dot. */
const OTHER_BUILT_IN = 15_000;

/** Priority of all versions, so that stable ones come first, and newer ones before older. */
const VERSION_PRIORITY = 15;
const CUSTOM: BackendPriority = { group: 1000, version: 100 };

export function priorityOf(apiVersion: string): BackendPriority {
  const [group] = splitApiVersion(apiVersion);
  if (Object.hasOwn(GROUPS, group)) return { group: GROUPS[group]!, version: VERSION_PRIORITY };
  return group.includes('.') ? CUSTOM : { group: OTHER_BUILT_IN, version: VERSION_PRIORITY };
}
