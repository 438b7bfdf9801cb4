/** The fields of a ResourceSlice's spec. The rules across them are in resource-slice.ts. */
import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { NodeSelector } from '../../shapes/pod/scheduling/node-selector.ts';
import { Counters, Device } from './devices/device.ts';

export const resourceSliceSpec = {
  driver: s.string(
    'Name of the driver that offers the devices, a DNS subdomain in lower case. Required; cannot be changed.',
    { zero: true },
  ),
  pool: s.object(
    'ResourcePool',
    'The pool the devices belong to.',
    {
      name: s.string('Name of the pool, often that of the node. Required; cannot be changed.', { zero: true }),
      generation: s.int64(
        "Version of the pool's contents. The driver increases it with each change that spans several slices; slices with a lower number are outdated.",
        { zero: true },
      ),
      resourceSliceCount: s.int64(
        'Number of slices the pool consists of in this generation. The pool is incomplete until all of them exist. At least 1.',
        { zero: true },
      ),
    },
    { zero: true },
  ),
  nodeName: s.string(
    'Name of the node that offers the devices. Exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection must be set. Cannot be changed.',
  ),
  nodeSelector: s.use(NodeSelector, 'Selects the nodes that can use the devices, with exactly one term.'),
  allNodes: s.boolean('Whether all nodes can use the devices.'),
  devices: s.list(
    Device,
    'Devices of the pool: at most 128, or 64 if any has taints or consumes counters. Cannot be combined with sharedCounters.',
  ),
  perDeviceNodeSelection: s.boolean('Whether each device says for itself which nodes can use it.'),
  sharedCounters: s.list(
    s.object('CounterSet', 'Counters that devices of the pool consume together, for devices that can be partitioned.', {
      name: s.string('Name of the counter set, unique in the pool. Must be a DNS label.', { zero: true }),
      counters: s.use(Counters, 'The counters and their amounts, by name. At most 32.', { zero: true }),
    }),
    'Counter sets that devices of the pool consume from. At most 8. Cannot be combined with devices.',
  ),
};
export type ResourceSliceSpec = ObjectType<typeof resourceSliceSpec>;
