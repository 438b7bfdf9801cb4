import { addAll } from '../../../base/collections/add-all.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../kind.ts';
import type { Device } from './devices/device.ts';
import { driverName, named, poolName } from './devices/device-names.ts';
import { counterRules, deviceRules, listedValues } from './devices/device-rules.ts';
import { eachDistinct } from './list-rules.ts';
import { type ResourceSliceSpec, resourceSliceSpec } from './resource-slice-spec.ts';

const MAX_DEVICES = 128;
/** Limit for slices in which a device has taints, counters or lists of values. */
const MAX_LARGE_DEVICES = 64;
const MAX_COUNTER_SETS = 8;

const EXACTLY_ONE_DETAIL =
  'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

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

function sliceRules(spec: ResourceSliceSpec, { old }: RuleContext<ResourceSliceSpec>): FieldError[] {
  const { devices, sharedCounters } = spec;
  const found = [
    ...under('driver', driverName(spec.driver)),
    ...under('pool', poolRules(spec.pool)),
    ...(old ? immutableFields(spec, old) : []),
    ...nodeRules(spec),
  ];
  if (sharedCounters && devices) found.push(invalid('', '', 'only one of `sharedCounters` or `devices` is allowed'));
  const before = new Map(old?.devices?.map((device) => [device.name, device]));
  const perDevice = spec.perDeviceNodeSelection ?? false;
  return [
    ...found,
    ...eachDistinct('devices', devices, {
      limit: devices?.some(isLarge) ? MAX_LARGE_DEVICES : MAX_DEVICES,
      key: ({ name }) => name,
      check: (device) => deviceRules(device, { old: before.get(device.name), perDevice }),
    }),
    ...eachDistinct('sharedCounters', sharedCounters, {
      limit: MAX_COUNTER_SETS,
      key: ({ name }) => name,
      check: ({ name, counters }) => counterRules('name', name, counters),
    }),
  ];
}

function isLarge({ taints, consumesCounters, attributes = {} }: Device): boolean {
  return (
    taints !== undefined ||
    consumesCounters !== undefined ||
    Object.values(attributes).some((each) => listedValues(each) > 0)
  );
}

function poolRules({ name, resourceSliceCount, generation }: ResourceSliceSpec['pool']): FieldError[] {
  const found = under('name', poolName(name));
  if (resourceSliceCount <= 0) {
    found.push(invalid('resourceSliceCount', resourceSliceCount, 'must be greater than zero'));
  }
  if (generation < 0) found.push(invalid('generation', generation, 'must be greater than or equal to zero'));
  return found;
}

function immutableFields(spec: ResourceSliceSpec, old: ResourceSliceSpec): FieldError[] {
  const found: FieldError[] = [];
  const changed = (field: string, value: unknown) => found.push(invalid(field, value, 'field is immutable'));
  if (spec.pool.name !== old.pool?.name) changed('pool.name', spec.pool.name);
  if (spec.driver !== old.driver) changed('driver', spec.driver);
  if (spec.nodeName !== old.nodeName) changed('nodeName', spec.nodeName ?? null);
  return found;
}

/** Checks that exactly one field selects the nodes that can use the devices. */
function nodeRules(spec: ResourceSliceSpec): FieldError[] {
  const { nodeName, nodeSelector } = spec;
  const found: FieldError[] = [];
  const said: string[] = [];
  if (nodeName) {
    said.push('`nodeName`');
    addAll(found, under('nodeName', named(dnsSubdomain)(nodeName)));
  } else if (nodeName === '') {
    found.push(invalid('nodeName', nodeName, 'must be either unset or set to a non-empty string'));
  }
  if (nodeSelector) {
    said.push('`nodeSelector`');
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    if (terms.length !== 1) {
      found.push(invalid('nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term'));
    }
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[field]) said.push(`\`${field}\``);
    else if (spec[field] === false) found.push(invalid(field, false, 'must be either unset or set to true'));
  }
  if (said.length === 0) found.push(required('', EXACTLY_ONE_DETAIL));
  if (said.length > 1)
    found.push(invalid('', `{${said.join(', ')}}`, `${EXACTLY_ONE_DETAIL}, but multiple fields are set`));
  return found;
}
