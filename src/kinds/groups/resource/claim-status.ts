/** Status of a ResourceClaim: allocated devices, and their users. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { Condition } from '../../shapes/meta/condition.ts';
import { NodeSelector } from '../../shapes/pod/scheduling/node-selector.ts';
import { bindingConditionFields } from './devices/binding-conditions.ts';
import { OpaqueDeviceConfiguration } from './devices/device-configuration.ts';
import { DeviceTolerations } from './devices/device-taint.ts';

const identity = {
  driver: s.string({ zero: true, description: 'Name of the driver that manages the device.' }),
  pool: s.string({ zero: true, description: 'Name of the pool the device belongs to.' }),
  device: s.string({ zero: true, description: 'Name of the device, unique within the pool.' }),
  shareID: s.string({
    description: 'Identifies this share of a device that is allocated to several requests at a time.',
  }),
};

const DeviceAllocationResult = s.object(
  'DeviceAllocationResult',
  {
    results: s.list(
      s.object(
        'DeviceRequestAllocationResult',
        {
          request: s.string({
            zero: true,
            description: 'Name of the request the device satisfies, as `<request>` or `<request>/<subrequest>`.',
          }),
          ...identity,
          adminAccess: s.boolean({
            description: 'Whether the device was allocated for administrative access, beside its ordinary users.',
          }),
          tolerations: DeviceTolerations,
          ...bindingConditionFields,
          consumedCapacity: s.map(s.quantity(), {
            description:
              'Amount of each capacity of the device that this allocation consumes, by capacity name. For devices that allow multiple allocations only.',
          }),
        },
        { description: 'A device that was allocated for a request.' },
      ),
      { description: 'The allocated devices. At most 32.' },
    ),
    config: s.list(
      s.object(
        'DeviceAllocationConfiguration',
        {
          source: s.string({
            zero: true,
            description: 'Where the configuration comes from: `FromClass` or `FromClaim`.',
          }),
          requests: s.list(s.string(), {
            description:
              'Names of the requests the configuration applies to, as `<request>` or `<request>/<subrequest>`. Empty means all.',
          }),
          opaque: OpaqueDeviceConfiguration,
        },
        { description: 'Configuration for allocated devices.' },
      ),
      {
        description:
          'Configuration from the device classes and the claim that the drivers apply to the devices. At most 64. Where entries conflict, the later one wins.',
      },
    ),
  },
  { description: 'Devices that were allocated, with their configuration.' },
);

const AllocationResult = s.object(
  'AllocationResult',
  {
    devices: s.use(DeviceAllocationResult, {
      default: {},
      description: 'The allocated devices and their configuration.',
    }),
    nodeSelector: s.use(NodeSelector, {
      description: 'Nodes on which the allocated devices can be used. Without it, on all nodes.',
    }),
    allocationTimestamp: s.time({ description: 'When the devices were allocated.' }),
  },
  { description: 'Devices that were allocated to a claim.' },
);
export type AllocationResult = TypeOf<typeof AllocationResult>;

const AllocatedDeviceStatus = s.object(
  'AllocatedDeviceStatus',
  {
    ...identity,
    conditions: s.listMap(Condition, {
      keys: ['type'],
      merge: undefined,
      description: 'Latest observations of the state of the device, at most 8, reported by its driver.',
    }),
    data: s.any({ description: 'Driver-specific data about the device, as an object of at most 10 KiB.' }),
    networkData: s.object(
      'NetworkDeviceData',
      {
        interfaceName: s.string({
          omitZero: true,
          description: 'Name of the network interface in the pod, at most 256 bytes.',
        }),
        ips: s.list(s.string(), {
          description: 'IP addresses of the interface in CIDR notation, such as 192.0.2.5/24. At most 16.',
        }),
        hardwareAddress: s.string({
          omitZero: true,
          description: 'Hardware address of the interface, such as a MAC address. At most 128 bytes.',
        }),
      },
      { description: 'Network settings of the device, if it is a network interface.' },
    ),
  },
  { description: 'State of an allocated device, reported by its driver.' },
);
export type AllocatedDeviceStatus = TypeOf<typeof AllocatedDeviceStatus>;

export const ResourceClaimStatus = s.object(
  'ResourceClaimStatus',
  {
    allocation: s.use(AllocationResult, {
      description: 'The allocated devices. Set by the scheduler, and removed when the claim is deallocated.',
    }),
    reservedFor: s.listMap(
      s.object(
        'ResourceClaimConsumerReference',
        {
          apiGroup: s.string({ omitZero: true, description: 'API group of the object. Empty means the core group.' }),
          resource: s.string({ zero: true, description: 'Resource of the object, by plural name, such as pods.' }),
          name: s.string({ zero: true, description: 'Name of the object.' }),
          uid: s.string({ zero: true, description: 'UID of the object.' }),
        },
        { description: 'An object, usually a Pod, that may use the claim.' },
      ),
      {
        keys: ['uid'],
        description:
          'Objects that may currently use the claim; only pods listed here can start. At most 256. The claim is not deallocated while any are left.',
      },
    ),
    devices: s.listMap(AllocatedDeviceStatus, {
      keys: ['driver', 'device', 'pool', 'shareID'],
      merge: undefined,
      description: 'State of each allocated device, reported by the drivers.',
    }),
  },
  { default: {}, description: 'Devices that were allocated to the claim, and who uses them.' },
);
export type ResourceClaimStatus = TypeOf<typeof ResourceClaimStatus>;
