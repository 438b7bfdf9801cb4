/** Resource names: native ones such as `cpu`, and extended ones such as `example.com/gpu`. */
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

/** Resources that quotas know by a plain name. */
const quotaNames = new Set([
  ...containerResources,
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
  ...countedObjects,
]);

/** Resources with a plain name. */
const plainNames = new Set([...quotaNames, 'storage']);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Reports whether a name has no domain, or the domain kubernetes.io. */
export const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Reports whether a resource is an extended one, such as `example.com/gpu`. */
export function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;
}

/** Reports whether a resource is allocated in integers only. */
export const isInteger = (name: string): boolean => countedObjects.has(name) || isExtended(name);

/** Reports whether a resource can be overcommitted: limits may exceed requests. */
export const canOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name);

const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith('requests.hugepages-');

/** Reports whether quotas know the resource by its plain name. */
export const isQuotaName = (name: string): boolean => quotaNames.has(name) || isQuotaHugePages(name);

/** Problems of a resource name. */
export function resourceName(name: string): string[] {
  const complaints = qualifiedName(name);
  if (complaints.length || name.includes('/')) return complaints;
  return plainNames.has(name) || isQuotaHugePages(name) ? [] : ['must be a standard resource type or fully qualified'];
}

/** Problems of a resource name in a quota. */
export function quotaResourceName(name: string): string[] {
  const complaints = resourceName(name);
  if (!name.includes('/') && !isQuotaName(name)) complaints.push('must be a standard resource for quota');
  return complaints;
}

/** Problems of a resource name in a container. */
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

/** Reports whether the resource can be requested at pod level. */
export const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);
