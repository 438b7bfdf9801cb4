/** Rules for the devices that a claim requests. Paths are from `devices`. */
import { addAll } from '../../../base/collections/add-all.ts';
import { type FieldError, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../schema/names.ts';
import type { DeviceClaim, DeviceRequest } from './device-claim.ts';
import { configurationRules } from './devices/device-configuration.ts';
import { fullDeviceProperty, named, shortName } from './devices/device-names.ts';
import { selectorRules } from './devices/device-selector.ts';
import { tolerationRules } from './devices/device-taint.ts';
import { eachDistinct, eachItem } from './list-rules.ts';

const MAX_ENTRIES = 32;
const MAX_ALTERNATIVES = 8;

export function deviceClaimRules({ requests, constraints, config }: DeviceClaim): FieldError[] {
  const known = requestNames(requests);
  return [
    ...eachDistinct('requests', requests, { limit: MAX_ENTRIES, key: ({ name }) => name, check: requestRules }),
    ...eachItem('constraints', constraints, MAX_ENTRIES, (constraint) => constraintRules(constraint, known)),
    ...eachItem('config', config, MAX_ENTRIES, (each) => [
      ...namedRequests(each.requests, known),
      ...configurationRules(each),
    ]),
  ];
}

/** Names by which other parts of a claim may refer to requests: `request` and `request/alternative`. */
export function requestNames(requests: readonly DeviceRequest[] = []): ReadonlySet<string> {
  return new Set(
    requests.flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((each) => `${name}/${each.name}`),
    ]),
  );
}

/** Checks a list of request names. */
export function namedRequests(names: readonly string[] | undefined, known: ReadonlySet<string>): FieldError[] {
  return eachDistinct('requests', names, {
    limit: MAX_ENTRIES,
    key: (name) => name,
    check: (name) => requestName(name, known),
  });
}

export function requestName(name: string, known: ReadonlySet<string>): FieldError[] {
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const parts = name.split('/');
  if (parts.length > 2) return [invalid('', name, detail)];
  const found = parts.flatMap(shortName);
  return known.has(name) ? found : [...found, invalid('', name, detail)];
}

function requestRules({ name, exactly, firstAvailable }: DeviceRequest): FieldError[] {
  const found = under('name', shortName(name));
  const detail = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly && firstAvailable) return [...found, invalid('', null, `${detail}, but multiple fields are set`)];
  if (exactly) return [...found, ...under('exactly', exactRequestRules(exactly))];
  if (!firstAvailable) return [...found, required('', detail)];
  return [
    ...found,
    ...eachDistinct('firstAvailable', firstAvailable, {
      limit: MAX_ALTERNATIVES,
      key: (each) => each.name,
      check: (each) => [...under('name', shortName(each.name)), ...exactRequestRules(each)],
    }),
  ];
}

type ExactRequest = NonNullable<DeviceRequest['exactly']>;

function exactRequestRules({
  deviceClassName,
  selectors,
  allocationMode,
  count = 0,
  tolerations,
}: ExactRequest): FieldError[] {
  return [
    ...under('deviceClassName', deviceClassName ? named(dnsSubdomain)(deviceClassName) : [required('')]),
    ...selectorRules(selectors),
    ...countRules(allocationMode, count),
    ...tolerationRules(tolerations),
  ];
}

function countRules(mode: string, count: number): FieldError[] {
  switch (mode) {
    case 'All':
      return count ? [invalid('count', count, "must not be specified when allocationMode is 'All'")] : [];
    case 'ExactCount':
      return count > 0 ? [] : [invalid('count', count, 'must be greater than zero')];
    default:
      return [notSupported('allocationMode', mode, ['All', 'ExactCount'])];
  }
}

type Constraint = NonNullable<DeviceClaim['constraints']>[number];

function constraintRules(constraint: Constraint, known: ReadonlySet<string>): FieldError[] {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  const found = namedRequests(requests, known);
  if (matchAttribute !== undefined) addAll(found, under('matchAttribute', fullDeviceProperty(matchAttribute)));
  else if (distinctAttribute !== undefined) {
    addAll(found, under('distinctAttribute', fullDeviceProperty(distinctAttribute)));
  } else {
    // The message is that of Kubernetes, although no field is set.
    const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
    found.push(required('', detail));
  }
  return found;
}
