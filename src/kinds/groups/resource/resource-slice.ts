import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name, text } from '../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../kind.ts';
import { NodeSelector } from '../../shapes/pod/node-selector.ts';
import { Counters, Device } from './device.ts';
import { sliceRules } from './resource-slice-rules.ts';

const spec = {
  driver: s.string({ zero: true, description: 'The driver that offers the devices. It cannot be changed.' }),
  pool: s.object(
    'ResourcePool',
    {
      name: s.string({
        zero: true,
        description: 'What the pool is called; often like the node. It cannot be changed.',
      }),
      generation: s.int64({ zero: true, description: 'Counts the changes of the pool: only its newest slices count.' }),
      resourceSliceCount: s.int64({ zero: true, description: 'Of how many slices the pool consists.' }),
    },
    { zero: true, description: 'The pool that the slice is a part of.' },
  ),
  nodeName: s.string({ description: 'The node that can use the devices. It cannot be changed.' }),
  nodeSelector: s.use(NodeSelector, { description: 'The nodes that can use the devices.' }),
  allNodes: s.boolean({ description: 'Every node can use the devices.' }),
  devices: s.list(Device, { description: 'The devices; not together with sharedCounters.' }),
  perDeviceNodeSelection: s.boolean({ description: 'Each device says which nodes can use it.' }),
  sharedCounters: s.list(
    s.object('CounterSet', {
      name: s.string({ zero: true, description: 'What devices of the pool call it.' }),
      counters: s.use(Counters, { zero: true, description: 'How much there is of each.' }),
    }),
    { description: 'What devices of the pool take from each other; it stands in a slice of its own.' },
  ),
};
export type ResourceSliceSpec = ObjectType<typeof spec>;

const fields = {
  spec: s.object('ResourceSliceSpec', spec, { zero: true, rules: [sliceRules], description: 'What is offered.' }),
};

export type ResourceSlice = KubeObject & ObjectType<typeof fields>;

/** Devices that a driver offers. */
export const ResourceSlice = defineKind({
  group: 'resource.k8s.io',
  kind: 'ResourceSlice',
  plural: 'resourceslices',
  scope: 'Cluster',
  description: 'Devices that a driver offers on a node or on several, as a part of a pool.',
  versions: { 'resource.k8s.io/v1': {} },
  fields,
  selectable: {
    'spec.nodeName': ({ spec: { nodeName } }: ResourceSlice) => nodeName ?? '',
    'spec.driver': ({ spec: { driver } }: ResourceSlice) => driver,
  },
  generation: true,
  onCreate: (slice: ResourceSlice, { now }: HookContext) => dateTaints(slice, now),
  onUpdate: (slice: ResourceSlice, _old: ResourceSlice, { now }: HookContext) => dateTaints(slice, now),
  warnings: driverWarnings,
  columns: [
    name,
    text('Node', 'Where the devices are.', ({ spec }) => spec?.nodeName ?? ''),
    text('Driver', 'Who offers them.', ({ spec }) => spec?.driver ?? ''),
    text('Pool', 'The pool they belong to.', ({ spec }) => spec?.pool?.name ?? ''),
    age,
  ],
});

/** A taint that does not say since when it is there is new. */
function dateTaints(slice: ResourceSlice, now: string): void {
  const { devices } = slice.spec;
  if (!devices?.some(({ taints }) => taints?.some(({ timeAdded }) => !timeAdded))) return;
  slice.spec = { ...slice.spec, devices: devices.map((device) => withDates(device, now)) };
}

function withDates(device: Device, now: string): Device {
  if (!device.taints) return device;
  return { ...device, taints: device.taints.map((taint) => ({ ...taint, timeAdded: taint.timeAdded ?? now })) };
}

function driverWarnings({ spec: { driver } }: ResourceSlice): string[] {
  if (driver === driver.toLowerCase()) return [];
  const words = `driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`;
  return [`spec.driver: ${words}`];
}
