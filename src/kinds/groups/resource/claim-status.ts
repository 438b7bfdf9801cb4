/** What a claim for devices got, and who uses it. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { Condition } from '../../shapes/meta/condition.ts';
import { NodeSelector } from '../../shapes/pod/node-selector.ts';
import { bindingConditionFields } from './binding-conditions.ts';
import { OpaqueDeviceConfiguration } from './device-configuration.ts';
import { DeviceTolerations } from './device-taint.ts';

const identity = {
  driver: s.string({ zero: true, description: 'The driver of the device.' }),
  pool: s.string({ zero: true, description: 'The pool that the device is in.' }),
  device: s.string({ zero: true, description: 'The device, by its name in the pool.' }),
  shareID: s.string({ description: 'Which share of the device it is, where several claims use it.' }),
};

const DeviceAllocationResult = s.object('DeviceAllocationResult', {
  results: s.list(
    s.object('DeviceRequestAllocationResult', {
      request: s.string({ zero: true, description: 'The request that the device was given for.' }),
      ...identity,
      adminAccess: s.boolean({ description: 'It was given for looking after it.' }),
      tolerations: DeviceTolerations,
      ...bindingConditionFields,
      consumedCapacity: s.map(s.quantity(), {
        description: 'How much of the device the claim uses, where it shares it.',
      }),
    }),
    { description: 'The devices that were given.' },
  ),
  config: s.list(
    s.object('DeviceAllocationConfiguration', {
      source: s.string({ zero: true, description: 'Where it comes from: FromClass or FromClaim.' }),
      requests: s.list(s.string(), { description: 'For which requests; where absent, for all.' }),
      opaque: OpaqueDeviceConfiguration,
    }),
    { description: 'What drivers are told about the devices.' },
  ),
});

const AllocationResult = s.object('AllocationResult', {
  devices: s.use(DeviceAllocationResult, { default: {}, description: 'What was given.' }),
  nodeSelector: s.use(NodeSelector, { description: 'Where the devices can be used; where absent, everywhere.' }),
  allocationTimestamp: s.time({ description: 'When they were given.' }),
});
export type AllocationResult = TypeOf<typeof AllocationResult>;

const AllocatedDeviceStatus = s.object('AllocatedDeviceStatus', {
  ...identity,
  conditions: s.listMap(Condition, { keys: ['type'], merge: undefined, description: 'How the device is.' }),
  data: s.any({ description: 'What the driver says of the device.' }),
  networkData: s.object(
    'NetworkDeviceData',
    {
      interfaceName: s.string({ omitZero: true, description: 'What the interface is called in the pod.' }),
      ips: s.list(s.string(), { description: 'Its addresses, each with the length of its prefix.' }),
      hardwareAddress: s.string({ omitZero: true, description: 'Its address on the link, such as a MAC address.' }),
    },
    { description: 'For network devices: how they can be reached.' },
  ),
});
export type AllocatedDeviceStatus = TypeOf<typeof AllocatedDeviceStatus>;

export const ResourceClaimStatus = s.object(
  'ResourceClaimStatus',
  {
    allocation: s.use(AllocationResult, {
      description: 'The devices that the claim got. It stays until they are given back.',
    }),
    reservedFor: s.listMap(
      s.object('ResourceClaimConsumerReference', {
        apiGroup: s.string({ omitZero: true }),
        resource: s.string({ zero: true, description: 'The kind of objects, as paths name it, such as `pods`.' }),
        name: s.string({ zero: true }),
        uid: s.string({ zero: true }),
      }),
      { keys: ['uid'], description: 'Who may use the devices now.' },
    ),
    devices: s.listMap(AllocatedDeviceStatus, {
      keys: ['driver', 'device', 'pool', 'shareID'],
      merge: undefined,
      description: 'What drivers say of the devices.',
    }),
  },
  { default: {}, description: 'What the claim got.' },
);
export type ResourceClaimStatus = TypeOf<typeof ResourceClaimStatus>;
