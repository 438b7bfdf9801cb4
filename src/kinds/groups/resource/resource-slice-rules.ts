/** Rules for the spec of a ResourceSlice. Paths are from the spec. */
import { addAll } from '../../../base/collections/add-all.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import type { Device } from './devices/device.ts';
import { driverName, named, poolName } from './devices/device-names.ts';
import { counterRules, deviceRules, listedValues } from './devices/device-rules.ts';
import { eachDistinct } from './list-rules.ts';
import type { ResourceSliceSpec } from './resource-slice-spec.ts';

const MAX_DEVICES = 128;
/** Limit for slices in which a device has taints, counters or lists of values. */
const MAX_LARGE_DEVICES = 64;
const MAX_COUNTER_SETS = 8;

export function sliceRules(spec: ResourceSliceSpec, { old }: RuleContext<ResourceSliceSpec>): FieldError[] {
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

const EXACTLY_ONE_DETAIL =
  'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

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
