import { parseQuantity } from '../../base/quantity.ts';
import type { DeviceRequest } from '../groups/resource/device-claim.ts';
import type { ResourceClaim } from '../groups/resource/resource-claim.ts';
import type { Amounts } from '../shapes/pod/pod-resources.ts';
import { ONE } from './amounts.ts';
import type { QuotaEvaluator } from './evaluator.ts';

const COUNT = 'count/resourceclaims.resource.k8s.io';
/** `gpu.deviceclass.resource.k8s.io/devices`: devices of the class `gpu`. */
const OF_CLASS = '.deviceclass.resource.k8s.io/devices';
/** Count for a request for all devices: no claim is allocated more. */
const MAX_DEVICES = 32;

type Alternative = Pick<NonNullable<DeviceRequest['exactly']>, 'deviceClassName' | 'allocationMode' | 'count'>;

export const resourceClaimUsage: QuotaEvaluator<ResourceClaim> = {
  counts: (resource) => resource === COUNT || resource.endsWith(OF_CLASS),

  usage({ spec }) {
    const devices = new Map<string, number>();
    for (const request of spec.devices.requests ?? []) {
      for (const [name, count] of worstCase(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const used: Amounts = new Map([[COUNT, ONE]]);
    for (const [name, count] of devices) used.set(name + OF_CLASS, parseQuantity(String(count)));
    return used;
  },

  isIn: () => false,
};

/** The most devices of each class that a request can be allocated. One of its alternatives is. */
function worstCase({ exactly, firstAvailable = [] }: DeviceRequest): Map<string, number> {
  const alternatives: readonly Alternative[] = exactly && firstAvailable.length === 0 ? [exactly] : firstAvailable;
  const most = new Map<string, number>();
  for (const each of alternatives) {
    most.set(each.deviceClassName, Math.max(most.get(each.deviceClassName) ?? 0, devicesOf(each)));
  }
  return most;
}

function devicesOf({ allocationMode, count = 0 }: Alternative): number {
  if (allocationMode === 'All') return MAX_DEVICES;
  return allocationMode === 'ExactCount' ? count : 0;
}
