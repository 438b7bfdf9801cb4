/** Which resources there are: those the cluster knows by a plain name, and those that extend it as `example.com/gpu`. */
import { qualifiedName } from '../../../schema/names.ts';

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Objects that a quota can count by a plain name. */
const countedObjects = new Set([
  'pods',
  'resourcequotas',
  'services',
  'services.nodeports',
  'services.loadbalancers',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
]);

/** What a quota knows by a plain name. */
const quotaNames = new Set([
  ...containerResources,
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  ...countedObjects,
]);

/** What has a plain name and can be counted, here or in a quota. */
const plainNames = new Set([...quotaNames, 'storage']);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Names without a domain, and those of the cluster's own. */
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Names that somebody else than the cluster has given, such as `example.com/gpu`. */
export function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;
}

/** Only whole numbers of it can be given out. */
export const isInteger = (name: string): boolean => countedObjects.has(name) || isExtended(name);

/** More of it can be promised than there is: limits may lie above requests. */
export const canOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name);

const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith('requests.hugepages-');

/** Whether a quota knows the resource by its plain name. */
export const isQuotaName = (name: string): boolean => quotaNames.has(name) || isQuotaHugePages(name);

/** What is wrong with the name of a resource. */
export function resourceName(name: string): string[] {
  const complaints = qualifiedName(name);
  if (complaints.length || name.includes('/')) return complaints;
  return plainNames.has(name) || isQuotaHugePages(name) ? [] : ['must be a standard resource type or fully qualified'];
}

/** What is wrong with the name of a resource that a quota limits. */
export function quotaResourceName(name: string): string[] {
  const complaints = resourceName(name);
  if (!name.includes('/') && !isQuotaName(name)) complaints.push('must be a standard resource for quota');
  return complaints;
}

/** What is wrong with the name of a resource that a container asks for. */
export function containerResourceName(name: string): string[] {
  if (containerResources.has(name)) return [];
  const complaints = resourceName(name);
  if (!name.includes('/')) {
    if (!isHugePages(name)) complaints.push('must be a standard resource for containers');
  } else if (!isNative(name) && !isExtended(name)) {
    complaints.push("doesn't follow extended resource name standard");
  }
  return complaints;
}

/** Whether a pod as a whole can ask for the resource. */
export const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);
