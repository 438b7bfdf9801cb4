/** Rules for the status of a ResourceClaim. Paths are from the status. */
import { addAll } from '../../../base/collections/add-all.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  under,
} from '../../../schema/field-error.ts';
import { formatIp } from '../../shapes/meta/addresses/canonical-ip.ts';
import { isMapped, parseIp } from '../../shapes/meta/addresses/ip-address.ts';
import { completeConditions } from '../../shapes/meta/condition.ts';
import type { AllocatedDeviceStatus, AllocationResult, ResourceClaimStatus } from './claim-status.ts';
import { namedRequests, requestName } from './device-claim-rules.ts';
import { bindingConditionRules } from './devices/binding-conditions.ts';
import { configurationRules, driverData } from './devices/device-configuration.ts';
import { deviceKey, deviceRules } from './devices/device-names.ts';
import { eachDistinct, eachItem } from './list-rules.ts';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
/** Configurations of classes and of the claim together. */
const MAX_CONFIGURATIONS = 64;
const MAX_CONDITIONS = 8;
const MAX_ADDRESSES = 16;
const MAX_INTERFACE_NAME_BYTES = 256;
const MAX_HARDWARE_ADDRESS_BYTES = 128;

interface StatusContext {
  readonly old: ResourceClaimStatus | undefined;
  /** The names by which results may refer to requests. */
  readonly requests: ReadonlySet<string>;
  readonly isDeleted: boolean;
}

export function claimStatusRules(
  status: ResourceClaimStatus,
  { old, requests, isDeleted }: StatusContext,
): FieldError[] {
  const allocated = new Set((status.allocation?.devices.results ?? []).map(deviceKey));
  return [
    ...eachDistinct('reservedFor', status.reservedFor, {
      limit: MAX_CONSUMERS,
      key: ({ uid }) => uid,
      check: (consumer) =>
        (['resource', 'name', 'uid'] as const).filter((field) => !consumer[field]).map((field) => required(field)),
    }),
    ...eachDistinct('devices', status.devices, {
      key: deviceKey,
      check: (device) => deviceStatusRules(device, allocated),
    }),
    ...reservations(status, isDeleted ? (old?.reservedFor ?? []) : undefined),
    ...allocationRules(status.allocation, old?.allocation, requests),
  ];
}

/** A claim that is being deleted gets no new consumers; `existing` are the current ones. */
function reservations({ allocation, reservedFor }: ResourceClaimStatus, existing: readonly object[] | undefined) {
  if (!reservedFor) return [];
  if (!allocation) return [forbidden('reservedFor', 'may not be specified when `allocated` is not set')];
  if (!existing || reservedFor.length > MAX_CONSUMERS) return [];
  if (reservedFor.every((each) => existing.some((other) => deepEqual(each, other)))) return [];
  const detail = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return [forbidden('reservedFor', detail)];
}

/** An allocation is immutable until it is removed. */
function allocationRules(
  allocation: AllocationResult | undefined,
  old: AllocationResult | undefined,
  requests: ReadonlySet<string>,
): FieldError[] {
  if (!allocation) return [];
  if (old) return deepEqual(allocation, old) ? [] : [invalid('allocation', allocation, 'field is immutable')];
  const { results, config } = allocation.devices;
  return under('allocation.devices', [
    ...eachItem('results', results, MAX_RESULTS, (result) => [
      ...under('request', requestName(result.request, requests)),
      ...deviceRules(result),
      ...bindingConditionRules(result),
    ]),
    ...eachItem('config', config, MAX_CONFIGURATIONS, (each) => [
      ...sourceRules(each.source),
      ...namedRequests(each.requests, requests),
      ...configurationRules(each),
    ]),
  ]);
}

function sourceRules(source: string): FieldError[] {
  const sources = ['FromClaim', 'FromClass'];
  if (!source) return [required('source')];
  return sources.includes(source) ? [] : [notSupported('source', source, sources)];
}

function deviceStatusRules(device: AllocatedDeviceStatus, allocated: ReadonlySet<string>): FieldError[] {
  const { conditions = [], data, networkData } = device;
  const found = deviceRules(device);
  if (!allocated.has(deviceKey(device))) {
    found.push(invalid('', deviceKey(device), 'must be an allocated device in the claim'));
  }
  if (conditions.length > MAX_CONDITIONS) found.push(tooMany('conditions', conditions.length, MAX_CONDITIONS));
  addAll(found, under('conditions', completeConditions(conditions)));
  if (data !== undefined) addAll(found, under('data', driverData(data)));
  if (networkData) addAll(found, under('networkData', networkRules(networkData)));
  return found;
}

function networkRules({
  interfaceName = '',
  hardwareAddress = '',
  ips,
}: NonNullable<AllocatedDeviceStatus['networkData']>) {
  const found: FieldError[] = [];
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE_NAME_BYTES)
    found.push(tooLong('interfaceName', MAX_INTERFACE_NAME_BYTES));
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS_BYTES) {
    found.push(tooLong('hardwareAddress', MAX_HARDWARE_ADDRESS_BYTES));
  }
  addAll(found, eachDistinct('ips', ips, { limit: MAX_ADDRESSES, key: (address) => address, check: interfaceAddress }));
  return found;
}

/** An interface address in canonical form, such as `10.9.8.7/24`. */
function interfaceAddress(text: string): FieldError[] {
  const [address = '', length = '', ...more] = text.split('/');
  const bytes = parseIp(address);
  const bits = /^\d+$/.test(length) ? Number(length) : Number.NaN;
  if (!bytes || more.length > 0 || !(bits <= bytes.length * 8)) {
    const detail = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';
    return [invalid('', text, detail)];
  }
  // An IPv4-mapped IPv6 address must be written as IPv4.
  const hidden = isMapped(bytes) && bits > 32;
  const canonical = hidden ? `${formatIp(bytes.subarray(12))}/${bits - 96}` : `${formatIp(bytes)}/${bits}`;
  return text === canonical ? [] : [invalid('', text, `must be in canonical form ("${canonical}")`)];
}
