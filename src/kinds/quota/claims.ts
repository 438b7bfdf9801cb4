import { compareQuantities, parseQuantity, type Quantity } from '../../base/quantity.ts';
import type { PersistentVolumeClaim } from '../groups/core/persistent-volume/persistent-volume-claim.ts';
import type { Amounts } from '../shapes/pod/pod-resources.ts';
import { classNameOf } from '../volumes/binding.ts';
import { ONE } from './amounts.ts';
import { type QuotaEvaluator, selects } from './evaluator.ts';

const COUNT = 'count/persistentvolumeclaims';
const known = ['persistentvolumeclaims', 'requests.storage'];
/** `gold.storageclass.storage.k8s.io/requests.storage`. */
const OF_CLASS = '.storageclass.storage.k8s.io/';

export const claimUsage: QuotaEvaluator<PersistentVolumeClaim> = {
  counts(resource) {
    return resource === COUNT || known.includes(resource) || known.some((name) => resource.endsWith(OF_CLASS + name));
  },

  usage(claim) {
    const used: Amounts = new Map([
      [COUNT, ONE],
      ['persistentvolumeclaims', ONE],
    ]);
    const className = classNameOf(claim);
    if (className) used.set(`${className}${OF_CLASS}persistentvolumeclaims`, ONE);
    const storage = sizeOf(claim);
    if (!storage) return used;
    used.set('requests.storage', storage);
    if (className) used.set(`${className}${OF_CLASS}requests.storage`, storage);
    return used;
  },

  isIn(claim, scope) {
    if (scope.scopeName !== 'VolumeAttributesClass') return false;
    const names = classesOf(claim);
    return names.length === 0 ? selects(scope, undefined) : names.some((name) => selects(scope, name));
  },
};

/** The requested or the allocated size, whichever is larger, in whole bytes. */
function sizeOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec.resources.requests?.storage;
  if (asked === undefined) return undefined;
  const size = parseQuantity(asked);
  const allocated = status.allocatedResources?.storage;
  if (allocated === undefined) return whole(size);
  const held = parseQuantity(allocated);
  return whole(compareQuantities(held, size) > 0 ? held : size);
}

function whole(quantity: Quantity): Quantity {
  if (quantity.exponent >= 0) return quantity;
  const divisor = 10n ** BigInt(-quantity.exponent);
  return { ...quantity, mantissa: (quantity.mantissa + divisor - 1n) / divisor, exponent: 0 };
}

export function classesOf({ spec, status }: PersistentVolumeClaim): string[] {
  const target = status.modifyVolumeStatus?.targetVolumeAttributesClassName;
  const names = [spec.volumeAttributesClassName, status.currentVolumeAttributesClassName, target];
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];
}
