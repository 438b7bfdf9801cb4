import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../kind.ts';
import type { Device } from './devices/device.ts';
import { sliceRules } from './resource-slice-rules.ts';
import { resourceSliceSpec } from './resource-slice-spec.ts';

const fields = {
  spec: s.object(
    'ResourceSliceSpec',
    'The devices, their driver and pool, and the nodes that can use them.',
    resourceSliceSpec,
    { zero: true, rules: [sliceRules] },
  ),
};

export type ResourceSlice = KubeObject & ObjectType<typeof fields>;

/** Devices of a driver. */
export const ResourceSlice = defineKind({
  kind: 'ResourceSlice',
  scope: 'Cluster',
  description:
    'Lists devices that a driver offers on one or several nodes. All slices of a pool together describe it. Written by drivers.',
  versions: { 'resource.k8s.io/v1': {} },
  fields,
  selectable: {
    'spec.nodeName': ({ spec: { nodeName } }: ResourceSlice) => nodeName ?? '',
    'spec.driver': ({ spec: { driver } }: ResourceSlice) => driver,
  },
  generation: true,
  onCreate: (slice: ResourceSlice, { now }: HookContext) => setTaintTimes(slice, now),
  onUpdate: (slice: ResourceSlice, _old: ResourceSlice, { now }: HookContext) => setTaintTimes(slice, now),
  warnings: driverWarnings,
  columns: ({ text }) => [
    name,
    text('Node', 'Node that offers the devices.', ({ spec }) => spec?.nodeName ?? ''),
    text('Driver', 'Driver of the devices.', ({ spec }) => spec?.driver ?? ''),
    text('Pool', 'Pool the devices belong to.', ({ spec }) => spec?.pool?.name ?? ''),
    age,
  ],
});

/** Sets the time of taints without one. */
function setTaintTimes(slice: ResourceSlice, now: string): void {
  const { devices } = slice.spec;
  if (!devices?.some(({ taints }) => taints?.some(({ timeAdded }) => !timeAdded))) return;
  slice.spec = { ...slice.spec, devices: devices.map((device) => withTaintTimes(device, now)) };
}

function withTaintTimes(device: Device, now: string): Device {
  if (!device.taints) return device;
  return { ...device, taints: device.taints.map((taint) => ({ ...taint, timeAdded: taint.timeAdded ?? now })) };
}

function driverWarnings({ spec: { driver } }: ResourceSlice): string[] {
  if (driver === driver.toLowerCase()) return [];
  const words = `driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`;
  return [`spec.driver: ${words}`];
}
