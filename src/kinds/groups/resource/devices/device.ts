/** A device in a ResourceSlice. */
import { s } from '../../../../schema/builders.ts';
import type { TypeOf } from '../../../../schema/schema.ts';
import { NodeSelector } from '../../../shapes/pod/scheduling/node-selector.ts';
import { bindingConditionFields } from './binding-conditions.ts';
import { DeviceTaint } from './device-taint.ts';

/** A value of one type, or a list of such values. */
const DeviceAttribute = s.object('DeviceAttribute', 'Value of an attribute. Exactly one field must be set.', {
  int: s.int64('Value of an integer attribute.'),
  bool: s.boolean('Value of a boolean attribute.'),
  string: s.string('A string of at most 64 bytes.'),
  version: s.string('A semantic version (semver.org, 2.0.0).'),
  ints: s.list(s.int64(), 'A list of integers. Must not be empty.'),
  bools: s.list(s.boolean(), 'A list of booleans. Must not be empty.'),
  strings: s.list(s.string(), 'A list of strings of at most 64 bytes each. Must not be empty.'),
  versions: s.list(s.string(), 'A list of semantic versions (semver.org, 2.0.0). Must not be empty.'),
});
export type DeviceAttribute = TypeOf<typeof DeviceAttribute>;

const CapacityRequestPolicy = s.object('CapacityRequestPolicy', 'Which amounts of a capacity a request can consume.', {
  default: s.quantity(
    'Amount a request consumes that does not say how much it needs. Required with validValues or validRange, and must be allowed by them.',
  ),
  validValues: s.list(
    s.quantity(),
    'Amounts that can be consumed, at most 10, in ascending order. A request is rounded up to the next one. Cannot be combined with validRange.',
  ),
  validRange: s.object(
    'CapacityRequestPolicyRange',
    'Range of amounts that can be consumed. Cannot be combined with validValues.',
    {
      min: s.quantity('Smallest amount that can be consumed. Smaller requests are rounded up to it. Required.', {
        required: 'required when validRange is defined',
      }),
      max: s.quantity('Largest amount that can be consumed. Without it, the whole capacity.'),
      step: s.quantity('Amounts between min and max must be min plus a multiple of this; requests are rounded up.'),
    },
  ),
});
export type CapacityRequestPolicy = TypeOf<typeof CapacityRequestPolicy>;

const DeviceCapacity = s.object('DeviceCapacity', 'A measurable capacity of a device, such as its memory.', {
  value: s.quantity('Total amount the device has. It does not change with allocations.', { zero: true }),
  requestPolicy: s.use(
    CapacityRequestPolicy,
    'How requests can consume the capacity. Allowed only if the device allows multiple allocations; without it, they can consume any amount.',
  ),
});
export type DeviceCapacity = TypeOf<typeof DeviceCapacity>;

/** Amounts by counter name. */
export const Counters = s.map(
  s.object('Counter', 'An amount that devices share.', {
    value: s.quantity('Amount of the counter, as a quantity.', { zero: true }),
  }),
  { zero: true },
);

export const Device = s.object('Device', 'A device, with its properties.', {
  name: s.string('Name of the device, unique within the pool. Must be a DNS label.', { zero: true }),
  attributes: s.map(
    DeviceAttribute,
    'Properties of the device by name, which selectors and constraints can refer to. At most 32 together with capacity.',
  ),
  capacity: s.map(
    DeviceCapacity,
    'Measurable capacities of the device by name, such as memory. At most 32 together with attributes.',
  ),
  consumesCounters: s.list(
    s.object('DeviceCounterConsumption', 'Amounts a device consumes from a counter set.', {
      counterSet: s.string('Name of a counter set in sharedCounters of the same pool.', { zero: true }),
      counters: s.use(Counters, 'Amount consumed of each counter in the set, by counter name.', { zero: true }),
    }),
    'Shared counters the device consumes while it is allocated, which limits what other devices of the pool can be. At most 2 counter sets.',
  ),
  nodeName: s.string(
    'Name of the only node that can use the device. Only with perDeviceNodeSelection; exactly one of nodeName, nodeSelector and allNodes must then be set.',
  ),
  nodeSelector: s.use(
    NodeSelector,
    'Selects the nodes that can use the device, with exactly one term. Only with perDeviceNodeSelection.',
  ),
  allNodes: s.boolean('Whether all nodes can use the device. Only with perDeviceNodeSelection.'),
  taints: s.list(
    DeviceTaint,
    'Taints set by the driver, at most 16. Only claims that tolerate them are allocated the device.',
  ),
  bindsToNode: s.boolean(
    'Whether a claim that is allocated the device can afterwards be used only on the node that was chosen for it.',
  ),
  ...bindingConditionFields,
  allowMultipleAllocations: s.boolean(
    'Whether the device can be allocated to several requests at a time, each consuming a part of its capacity.',
  ),
  nodeAllocatableResourceMappings: s.map(
    s.object('NodeAllocatableResourceMapping', 'How much of a node resource an allocated device accounts for.', {
      capacityKey: s.string(
        'Name of a capacity of the device whose consumed amount is counted. Without it, the number of allocated devices is.',
      ),
      allocationMultiplier: s.quantity(
        'Factor that the capacity or the number of devices is multiplied by. Defaults to 1.',
        { default: '1' },
      ),
    }),
    'Standard node resources, such as cpu or memory, that the device accounts for, by resource name.',
  ),
});
export type Device = TypeOf<typeof Device>;
