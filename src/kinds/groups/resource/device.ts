/** A device that a driver offers, with what is known of it. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { NodeSelector } from '../../shapes/pod/node-selector.ts';
import { bindingConditionFields } from './binding-conditions.ts';
import { DeviceTaint } from './device-taint.ts';

/** One value, or a list of values of one type. */
const DeviceAttribute = s.object('DeviceAttribute', {
  int: s.int64(),
  bool: s.boolean(),
  string: s.string(),
  version: s.string({ description: 'A version as semver.org describes them.' }),
  ints: s.list(s.int64()),
  bools: s.list(s.boolean()),
  strings: s.list(s.string()),
  versions: s.list(s.string()),
});
export type DeviceAttribute = TypeOf<typeof DeviceAttribute>;

const CapacityRequestPolicy = s.object('CapacityRequestPolicy', {
  default: s.quantity({ description: 'What a claim gets that does not say how much it wants.' }),
  validValues: s.list(s.quantity(), { description: 'The amounts that can be had, the smallest first.' }),
  validRange: s.object(
    'CapacityRequestPolicyRange',
    {
      min: s.quantity({ required: 'required when validRange is defined', description: 'The least that can be had.' }),
      max: s.quantity({ description: 'The most that can be had.' }),
      step: s.quantity({ description: 'Amounts are the least and whole steps above it.' }),
    },
    { description: 'Between which amounts anything can be had.' },
  ),
});
export type CapacityRequestPolicy = TypeOf<typeof CapacityRequestPolicy>;

const DeviceCapacity = s.object('DeviceCapacity', {
  value: s.quantity({ zero: true, description: 'How much there is.' }),
  requestPolicy: s.use(CapacityRequestPolicy, { description: 'How it may be shared.' }),
});
export type DeviceCapacity = TypeOf<typeof DeviceCapacity>;

/** Amounts by the name of the counter. */
export const Counters = s.map(s.object('Counter', { value: s.quantity({ zero: true }) }), { zero: true });

export const Device = s.object('Device', {
  name: s.string({ zero: true, description: 'Tells the device from others of its pool.' }),
  attributes: s.map(DeviceAttribute, { description: 'What selectors can ask for.' }),
  capacity: s.map(DeviceCapacity, { description: 'How much it holds of what can be measured.' }),
  consumesCounters: s.list(
    s.object('DeviceCounterConsumption', {
      counterSet: s.string({ zero: true, description: 'From which set of counters.' }),
      counters: s.use(Counters, { zero: true, description: 'How much of each.' }),
    }),
    { description: 'What it takes away from other devices while it is used.' },
  ),
  nodeName: s.string({ description: 'The node that can use it, where the slice leaves that to its devices.' }),
  nodeSelector: s.use(NodeSelector, { description: 'The nodes that can use it.' }),
  allNodes: s.boolean({ description: 'Every node can use it.' }),
  taints: s.list(DeviceTaint, { description: 'What keeps pods from it.' }),
  bindsToNode: s.boolean({ description: 'Using it ties a pod to the node that was chosen.' }),
  ...bindingConditionFields,
  allowMultipleAllocations: s.boolean({ description: 'Several claims can share it.' }),
  nodeAllocatableResourceMappings: s.map(
    s.object('NodeAllocatableResourceMapping', {
      capacityKey: s.string({ description: 'The capacity that is counted.' }),
      allocationMultiplier: s.quantity({ default: '1', description: 'What one of it stands for.' }),
    }),
    { description: 'What of the node using it takes, by the name of the resource.' },
  ),
});
export type Device = TypeOf<typeof Device>;
