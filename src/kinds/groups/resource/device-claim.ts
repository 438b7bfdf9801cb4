/** The devices that a ResourceClaim or ResourceClaimTemplate requests. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { OpaqueDeviceConfiguration } from './devices/device-configuration.ts';
import { DeviceSelectors } from './devices/device-selector.ts';
import { DeviceTolerations } from './devices/device-taint.ts';

const requestFields = {
  deviceClassName: s.string('Name of the DeviceClass the devices must belong to. Required.', { zero: true }),
  selectors: DeviceSelectors,
  allocationMode: s.string(
    '`ExactCount` requests as many devices as count says, `All` every device that matches, and at least one. Defaults to ExactCount.',
    { default: 'ExactCount' },
  ),
  count: s.int64('Number of devices to allocate. For ExactCount only; must be greater than 0; defaults to 1.', {
    omitZero: true,
    default: ({ allocationMode }: { allocationMode?: string }): number | undefined =>
      allocationMode === 'ExactCount' ? 1 : undefined,
  }),
  tolerations: DeviceTolerations,
  capacity: s.object(
    'CapacityRequirements',
    'Capacity each device must provide. For devices that allow multiple allocations, also the amount the request consumes.',
    {
      requests: s.map(
        s.quantity(),
        'Amount needed of each capacity, by capacity name. A device must provide all of them.',
      ),
    },
  ),
};

const adminAccess = s.boolean(
  'Requests administrative access, for monitoring or managing devices that others are using. Such an allocation does not keep the devices from being allocated to others. Defaults to false.',
);

const DeviceRequest = s.object('DeviceRequest', 'A request for devices.', {
  name: s.string(
    'Name of the request, by which containers, constraints and configuration refer to it. Must be a DNS label, unique in the claim.',
    { zero: true },
  ),
  exactly: s.object(
    'ExactDeviceRequest',
    'Devices of one class. Exactly one of exactly and firstAvailable must be set.',
    { ...requestFields, adminAccess },
  ),
  firstAvailable: s.list(
    s.object('DeviceSubRequest', 'One of several alternatives for a request.', {
      name: s.string(
        'Name of the alternative. Others refer to it as `<request>/<subrequest>`. Must be a DNS label, unique in the list.',
        { zero: true },
      ),
      ...requestFields,
    }),
    'Alternatives in order of preference; the first that can be satisfied is used. At most 8. Exactly one of exactly and firstAvailable must be set.',
  ),
});
export type DeviceRequest = TypeOf<typeof DeviceRequest>;

/** References to requests of the claim. */
const requests = s.list(
  s.string(),
  'Names of the requests this applies to, as `<request>` or `<request>/<subrequest>`. Empty means all.',
);

const DeviceClaim = s.object('DeviceClaim', 'The devices a claim requests, with constraints and configuration.', {
  requests: s.list(
    DeviceRequest,
    'The requested devices. The claim is allocated only if all requests can be satisfied. At most 32.',
  ),
  constraints: s.list(
    s.object('DeviceConstraint', 'A condition on the combination of devices that are allocated.', {
      requests,
      matchAttribute: s.string(
        'Fully qualified name of an attribute that must have the same value for all devices, such as a NUMA node.',
      ),
      distinctAttribute: s.string(
        'Fully qualified name of an attribute that must have a different value for each device.',
      ),
    }),
    'Conditions that the allocated devices must fulfil together. At most 32.',
  ),
  config: s.list(
    s.object('DeviceClaimConfiguration', 'Configuration for the devices of some or all requests.', {
      requests,
      opaque: OpaqueDeviceConfiguration,
    }),
    'Configuration that is passed to the drivers when the devices are prepared for a pod. At most 32.',
  ),
});
export type DeviceClaim = TypeOf<typeof DeviceClaim>;

export const ResourceClaimSpec = s.object(
  'ResourceClaimSpec',
  'What the claim requests. Cannot be changed.',
  {
    devices: s.use(DeviceClaim, 'The requested devices, with constraints and configuration.', { default: {} }),
  },
  { zero: true },
);
