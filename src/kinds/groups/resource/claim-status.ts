/** Status of a ResourceClaim: allocated devices, and their users. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { Condition } from '../../shapes/meta/condition.ts';
import { NodeSelector } from '../../shapes/pod/scheduling/node-selector.ts';
import { bindingConditionFields } from './devices/binding-conditions.ts';
import { OpaqueDeviceConfiguration } from './devices/device-configuration.ts';
import { DeviceTolerations } from './devices/device-taint.ts';

const identity = {
  driver: s.string('Name of the driver that manages the device.', { zero: true }),
  pool: s.string('Name of the pool the device belongs to.', { zero: true }),
  device: s.string('Name of the device, unique within the pool.', { zero: true }),
  shareID: s.string('Identifies this share of a device that is allocated to several requests at a time.'),
};

const DeviceAllocationResult = s.object(
  'DeviceAllocationResult',
  'Devices that were allocated, with their configuration.',
  {
    results: s.list(
      s.object('DeviceRequestAllocationResult', 'A device that was allocated for a request.', {
        request: s.string('Name of the request the device satisfies, as `<request>` or `<request>/<subrequest>`.', {
          zero: true,
        }),
        ...identity,
        adminAccess: s.boolean(
          'Whether the device was allocated for administrative access, beside its ordinary users.',
        ),
        tolerations: DeviceTolerations,
        ...bindingConditionFields,
        consumedCapacity: s.map(
          s.quantity(),
          'Amount of each capacity of the device that this allocation consumes, by capacity name. For devices that allow multiple allocations only.',
        ),
      }),
      'The allocated devices. At most 32.',
    ),
    config: s.list(
      s.object('DeviceAllocationConfiguration', 'Configuration for allocated devices.', {
        source: s.string('Where the configuration comes from: `FromClass` or `FromClaim`.', { zero: true }),
        requests: s.list(
          s.string(),
          'Names of the requests the configuration applies to, as `<request>` or `<request>/<subrequest>`. Empty means all.',
        ),
        opaque: OpaqueDeviceConfiguration,
      }),
      'Configuration from the device classes and the claim that the drivers apply to the devices. At most 64. Where entries conflict, the later one wins.',
    ),
  },
);

const AllocationResult = s.object('AllocationResult', 'Devices that were allocated to a claim.', {
  devices: s.use(DeviceAllocationResult, 'The allocated devices and their configuration.', { default: {} }),
  nodeSelector: s.use(NodeSelector, 'Nodes on which the allocated devices can be used. Without it, on all nodes.'),
  allocationTimestamp: s.time('When the devices were allocated.'),
});
export type AllocationResult = TypeOf<typeof AllocationResult>;

const AllocatedDeviceStatus = s.object(
  'AllocatedDeviceStatus',
  'State of an allocated device, reported by its driver.',
  {
    ...identity,
    conditions: s.listMap(
      Condition,
      'Latest observations of the state of the device, at most 8, reported by its driver.',
      { keys: ['type'], merge: undefined },
    ),
    data: s.any('Driver-specific data about the device, as an object of at most 10 KiB.'),
    networkData: s.object('NetworkDeviceData', 'Network settings of the device, if it is a network interface.', {
      interfaceName: s.string('Name of the network interface in the pod, at most 256 bytes.', { omitZero: true }),
      ips: s.list(s.string(), 'IP addresses of the interface in CIDR notation, such as 192.0.2.5/24. At most 16.'),
      hardwareAddress: s.string('Hardware address of the interface, such as a MAC address. At most 128 bytes.', {
        omitZero: true,
      }),
    }),
  },
);
export type AllocatedDeviceStatus = TypeOf<typeof AllocatedDeviceStatus>;

export const ResourceClaimStatus = s.struct(
  'ResourceClaimStatus',
  'Devices that were allocated to the claim, and who uses them.',
  {
    allocation: s.use(
      AllocationResult,
      'The allocated devices. Set by the scheduler, and removed when the claim is deallocated.',
    ),
    reservedFor: s.listMap(
      s.object('ResourceClaimConsumerReference', 'An object, usually a Pod, that may use the claim.', {
        apiGroup: s.string('API group of the object. Empty means the core group.', { omitZero: true }),
        resource: s.string('Resource of the object, by plural name, such as pods.', { zero: true }),
        name: s.string('Name of the object.', { zero: true }),
        uid: s.string('UID of the object.', { zero: true }),
      }),
      'Objects that may currently use the claim; only pods listed here can start. At most 256. The claim is not deallocated while any are left.',
      { keys: ['uid'] },
    ),
    devices: s.listMap(AllocatedDeviceStatus, 'State of each allocated device, reported by the drivers.', {
      keys: ['driver', 'device', 'pool', 'shareID'],
      merge: undefined,
    }),
  },
);
export type ResourceClaimStatus = TypeOf<typeof ResourceClaimStatus>;
