/** Rules for the devices of a ResourceSlice. Paths are from the device. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import { type FieldError, invalid, notFound, required, tooLong, under } from '../../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../../schema/names.ts';
import { isNative } from '../../../shapes/pod/resource-names.ts';
import { eachDistinct, eachEntry, eachItem } from '../list-rules.ts';
import { bindingConditionRules } from './binding-conditions.ts';
import { capacityRules } from './capacity-rules.ts';
import type { Device, DeviceAttribute } from './device.ts';
import { deviceProperty, MAX_QUALIFIED_NAME_BYTES, named, shortName } from './device-names.ts';
import { taintRules } from './device-taint.ts';

const MAX_PROPERTIES = 32;
const MAX_ATTRIBUTE_VALUES = 48;
const MAX_TAINTS = 16;
const MAX_COUNTER_CONSUMPTIONS = 2;
const MAX_COUNTERS = 32;
const MAX_VALUE_BYTES = 64;
const MAX_LABEL_BYTES = 63;

interface DeviceContext {
  /** The device before the update. */
  readonly old: Device | undefined;
  /** True when each device names the nodes that can use it. */
  readonly perDevice: boolean;
}

export function deviceRules(device: Device, { old, perDevice }: DeviceContext): FieldError[] {
  const { attributes = {}, capacity = {}, allowMultipleAllocations: shared = false } = device;
  const property = { maxKeyLength: MAX_QUALIFIED_NAME_BYTES, checkKey: deviceProperty };
  const tooMany = propertyCounts(attributes, Object.keys(capacity).length);
  const properties = () => [
    ...eachEntry('attributes', attributes, { ...property, check: attributeRules }),
    ...eachEntry('capacity', capacity, { ...property, check: (each) => capacityRules(each, shared) }),
  ];
  return [
    ...under('name', shortName(device.name)),
    // There may be 10,000 of them in each device.
    ...(tooMany.length > 0 ? tooMany : properties()),
    // Stored taints stay valid: earlier rules were less strict.
    ...(old && deepEqual(old.taints, device.taints) ? [] : eachItem('taints', device.taints, MAX_TAINTS, taintRules)),
    ...eachDistinct('consumesCounters', device.consumesCounters, {
      limit: MAX_COUNTER_CONSUMPTIONS,
      key: ({ counterSet }) => counterSet,
      check: ({ counterSet, counters }) => counterRules('counterSet', counterSet, counters),
    }),
    ...(perDevice ? nodesOfDevice(device) : nodesOfSlice(device)),
    ...bindingConditionRules(device),
    ...mappingRules(device),
  ];
}

/** Checks a counter set, or a device's consumption from it. `field` is the one that holds the set's name. */
export function counterRules(field: string, name: string, counters: Readonly<Record<string, unknown>>): FieldError[] {
  const found = under(field, name ? shortName(name) : [required('')]);
  if (Object.keys(counters).length === 0) return [...found, required('counters')];
  const limits = { limit: MAX_COUNTERS, maxKeyLength: MAX_LABEL_BYTES };
  return [...found, ...eachEntry('counters', counters, { ...limits, checkKey: shortName, check: () => [] })];
}

function propertyCounts(attributes: Readonly<Record<string, DeviceAttribute>>, capacities: number): FieldError[] {
  const found: FieldError[] = [];
  const total = Object.keys(attributes).length + capacities;
  if (total > MAX_PROPERTIES) {
    const detail = `the total number of attributes and capacities must not exceed ${MAX_PROPERTIES}`;
    found.push(invalid('', total, detail));
  }
  const values = Object.values(attributes).reduce((sum, each) => sum + (listedValues(each) || 1), 0);
  if (values > MAX_ATTRIBUTE_VALUES) {
    found.push(invalid('', values, `the total number of attribute values must not exceed ${MAX_ATTRIBUTE_VALUES}`));
  }
  return found;
}

/** Number of values in the lists of an attribute. */
export function listedValues({ ints = [], bools = [], strings = [], versions = [] }: DeviceAttribute): number {
  return ints.length + bools.length + strings.length + versions.length;
}

const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

function attributeRules(attribute: DeviceAttribute): FieldError[] {
  const { string, version, strings = [], versions = [] } = attribute;
  const found = [
    ...(string === undefined ? [] : under('string', valueLength(string))),
    ...(version === undefined ? [] : under('version', versionRules(version))),
    ...strings.flatMap((each, index) => under(`strings[${index}]`, valueLength(each))),
    ...versions.flatMap((each, index) => under(`versions[${index}]`, versionRules(each))),
  ];
  const set = Object.values(attribute).filter((value) => value !== undefined).length;
  if (set === 1) return found;
  return [...found, invalid('', set === 0 ? '' : attribute, 'exactly one value must be specified')];
}

function valueLength(text: string): FieldError[] {
  return Buffer.byteLength(text) > MAX_VALUE_BYTES ? [tooLong('', MAX_VALUE_BYTES)] : [];
}

function versionRules(text: string): FieldError[] {
  // Text that is far too long is not matched, because the pattern would be slow.
  const fits = text.length <= 4 * MAX_VALUE_BYTES && VERSION.test(text);
  const found = fits ? [] : [invalid('', text, 'must be a string compatible with semver.org spec 2.0.0')];
  return [...found, ...valueLength(text)];
}

const CAN_ONLY =
  '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const EXACTLY_ONE =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

function nodesOfSlice({ nodeName, nodeSelector, allNodes }: Device): FieldError[] {
  const isSaid = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined;
  return isSaid ? [invalid('', null, CAN_ONLY)] : [];
}

function nodesOfDevice({ nodeName, nodeSelector, allNodes }: Device): FieldError[] {
  const found: FieldError[] = [];
  const said: string[] = [];
  if (nodeName) {
    said.push('`nodeName`');
    addAll(found, under('nodeName', named(dnsSubdomain)(nodeName)));
  } else if (nodeName === '') found.push(invalid('nodeName', nodeName, 'must not be empty'));
  if (nodeSelector) said.push('`nodeSelector`');
  if (allNodes) said.push('`allNodes`');
  else if (allNodes === false) found.push(invalid('allNodes', allNodes, 'must be either unset or set to true'));
  if (said.length === 0) found.push(required('', EXACTLY_ONE));
  if (said.length > 1) found.push(invalid('', `{${said.join(', ')}}`, EXACTLY_ONE));
  return found;
}

function mappingRules({ nodeAllocatableResourceMappings: mappings = {}, capacity = {} }: Device): FieldError[] {
  return Object.entries(mappings).flatMap(([name, { allocationMultiplier, capacityKey }]) => {
    const found: FieldError[] = [];
    if (!isNative(name)) found.push(invalid('', name, 'must be a node allocatable resource name'));
    if (/^(-.*|0)$/.test(allocationMultiplier)) {
      found.push(invalid('allocationMultiplier', allocationMultiplier, 'must be positive'));
    }
    if (capacityKey === '') found.push(invalid('capacityKey', '', 'capacityKey must not be an empty string'));
    else if (capacityKey !== undefined && !Object.hasOwn(capacity, capacityKey)) {
      found.push(notFound('capacityKey', capacityKey));
    }
    return under(`nodeAllocatableResourceMappings[${name}]`, found);
  });
}
