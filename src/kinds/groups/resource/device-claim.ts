/** What a claim for devices asks for; a template for claims says the same. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { OpaqueDeviceConfiguration } from './device-configuration.ts';
import { DeviceSelectors } from './device-selector.ts';
import { DeviceTolerations } from './device-taint.ts';

const wanted = {
  deviceClassName: s.string({ zero: true, description: 'The class that the devices must be of.' }),
  selectors: DeviceSelectors,
  allocationMode: s.string({
    default: 'ExactCount',
    description: 'ExactCount asks for a number of devices, All for every one that fits.',
  }),
  count: s.int64({
    omitZero: true,
    default: ({ allocationMode }: { allocationMode?: string }): number | undefined =>
      allocationMode === 'ExactCount' ? 1 : undefined,
    description: 'How many devices; only for ExactCount.',
  }),
  tolerations: DeviceTolerations,
  capacity: s.object(
    'CapacityRequirements',
    { requests: s.map(s.quantity(), { description: 'Amounts by the name of the capacity.' }) },
    { description: 'How much of each device is needed, where several can share one.' },
  ),
};

const adminAccess = s.boolean({
  description: 'Devices are wanted for looking after them: others may use them at the same time.',
});

const DeviceRequest = s.object('DeviceRequest', {
  name: s.string({ zero: true, description: 'What constraints, configuration and containers call the request.' }),
  exactly: s.object('ExactDeviceRequest', { ...wanted, adminAccess }, { description: 'Exactly these devices.' }),
  firstAvailable: s.list(
    s.object('DeviceSubRequest', {
      name: s.string({ zero: true, description: 'What others call it, behind the name of the request and a slash.' }),
      ...wanted,
    }),
    { description: 'The first of these that can be had.' },
  ),
});
export type DeviceRequest = TypeOf<typeof DeviceRequest>;

/** Requests that a part of the claim is about. */
const requests = s.list(s.string(), { description: 'For which requests; where absent, for all.' });

const DeviceClaim = s.object('DeviceClaim', {
  requests: s.list(DeviceRequest, { description: 'The devices, request by request. All of them must be there.' }),
  constraints: s.list(
    s.object('DeviceConstraint', {
      requests,
      matchAttribute: s.string({ description: 'An attribute that must be the same for all devices.' }),
      distinctAttribute: s.string({ description: 'An attribute that must be different for all devices.' }),
    }),
    { description: 'What devices of several requests must have in common.' },
  ),
  config: s.list(s.object('DeviceClaimConfiguration', { requests, opaque: OpaqueDeviceConfiguration }), {
    description: 'What drivers are told about the devices.',
  }),
});
export type DeviceClaim = TypeOf<typeof DeviceClaim>;

export const ResourceClaimSpec = s.object(
  'ResourceClaimSpec',
  { devices: s.use(DeviceClaim, { default: {}, description: 'Which devices are wanted.' }) },
  { zero: true, description: 'What is wanted. It cannot be changed.' },
);
