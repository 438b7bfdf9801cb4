/** Requests and limits of compute resources and storage. */
import { addAll } from '../../../base/collections/add-all.ts';
import { compareQuantities, parseQuantity, QuantityError } from '../../../base/quantity.ts';
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import type { Rule, TypeOf } from '../../../schema/schema.ts';
import { canOvercommit, containerResourceName, isHugePages, isInteger, isPodLevel } from '../pod/resource-names.ts';

/** Amounts by resource name, such as `cpu`, `memory` or `example.com/gpu`. */
export const ResourceList = s.map(s.quantity({ thousandths: true }));
export type ResourceList = TypeOf<typeof ResourceList>;

/** Reads own properties only: resource names come from clients, and `constructor` is a valid one. */
export function amountIn(list: ResourceList | undefined, name: string): string | undefined {
  return list && Object.hasOwn(list, name) ? list[name] : undefined;
}

const ResourceClaim = s.object(
  'ResourceClaim',
  'Refers to an entry of spec.resourceClaims of the pod, whose devices the container uses.',
  {
    name: s.string('Name of the entry in spec.resourceClaims.', { zero: true }),
    request: s.string('Name of a request within the claim. If empty, the container gets all devices of the claim.', {
      omitZero: true,
    }),
  },
);
export type ResourceClaim = TypeOf<typeof ResourceClaim>;

const fields = {
  limits: s.use(
    ResourceList,
    'Maximum amount of each resource, such as cpu or memory. A container that exceeds its memory limit is ' +
      'killed; one that reaches its cpu limit is throttled.',
  ),
  requests: s.use(
    ResourceList,
    'Amount of each resource that is reserved on the node; the scheduler uses it to place the pod. Defaults ' +
      'to the limits. Cannot exceed them.',
  ),
  claims: s.listMap(ResourceClaim, 'Resource claims of the pod whose devices are available to the container.', {
    keys: ['name'],
    merge: undefined,
  }),
};

/** Resources as reported in a status: not validated. */
export const ResourceRequirements = s.object(
  'ResourceRequirements',
  'Requests and limits of compute resources.',
  fields,
);
export type ResourceRequirements = TypeOf<typeof ResourceRequirements>;

/** Requests and limits of one container. */
export const ContainerResources = s.use(ResourceRequirements, {
  rules: [requirements(containerName)],
});

/** Requests and limits of a pod as a whole. */
export const PodResources = s.use(ResourceRequirements, {
  rules: [
    ({ claims }: ResourceRequirements) =>
      claims ? forbidden('claims', 'claims may not be set for Resources at pod-level') : undefined,
    requirements(podName),
  ],
});

/** Resources that running a pod takes besides those of its containers. */
export const Overhead = s.use(ResourceList, {
  rules: [(overhead: ResourceList) => amounts('limits', overhead, containerName)],
});

export const VolumeResourceRequirements = s.object('VolumeResourceRequirements', 'Requests and limits of storage.', {
  limits: s.use(ResourceList, 'Maximum size of the volume, under the key storage.'),
  requests: s.use(ResourceList, 'Minimum size of the volume, under the key storage, such as 10Gi.'),
});

type NameCheck = (name: string) => FieldError[];

function containerName(name: string): FieldError[] {
  return containerResourceName(name).map((complaint) => invalid('', name, complaint));
}

function podName(name: string): FieldError[] {
  return isPodLevel(name) ? [] : [notSupported('', name, ['cpu', 'hugepages-', 'memory'])];
}

function requirements(nameCheck: NameCheck): Rule<ResourceRequirements> {
  return ({ limits, requests }) => {
    if (!limits && !requests) return undefined;
    const found = amounts('limits', limits, nameCheck);
    addAll(found, amounts('requests', requests, nameCheck));
    if (requests) addAll(found, withinLimits(requests, limits));
    if (has(limits, requests, isHugePages) && !has(limits, requests, (name) => name === 'cpu' || name === 'memory')) {
      found.push(forbidden('', 'HugePages require cpu or memory'));
    }
    return found;
  };
}

function has(limits: ResourceList | undefined, requests: ResourceList | undefined, which: (name: string) => boolean) {
  for (const name in limits) if (which(name)) return true;
  for (const name in requests) if (which(name)) return true;
  return false;
}

function amounts(step: string, list: ResourceList | undefined, nameCheck: NameCheck): FieldError[] {
  const found: FieldError[] = [];
  for (const name in list) {
    const wrong = nameCheck(name);
    addAll(wrong, amount(name, list[name]!));
    if (wrong.length) addAll(found, under(`${step}[${name}]`, wrong));
  }
  return found;
}

function amount(name: string, text: string): FieldError[] {
  const found: FieldError[] = [];
  if (text.startsWith('-')) found.push(invalid('', text, 'must be greater than or equal to 0'));
  if (isInteger(name) && !isWhole(text)) found.push(invalid('', text, 'must be an integer'));
  if (isHugePages(name) && !isMultiple(text, name.slice('hugepages-'.length))) {
    found.push(invalid('', text, `${text} is not positive integer multiple of ${name}`));
  }
  return found;
}

/** A rule on an amount. */
export function isWhole(text: string): boolean {
  const { mantissa, exponent } = parseQuantity(text);
  return exponent >= 0 || mantissa % 10n ** BigInt(-exponent) === 0n;
}

function isMultiple(text: string, pageSize: string): boolean {
  const page = bytes(pageSize);
  const size = bytes(text);
  return page !== undefined && size !== undefined && page > 0n && size % page === 0n;
}

/** An integer number of bytes; undefined for anything else. */
function bytes(text: string): bigint | undefined {
  try {
    const { mantissa, exponent } = parseQuantity(text);
    if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
    const divisor = 10n ** BigInt(-exponent);
    return mantissa % divisor === 0n ? mantissa / divisor : undefined;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

function withinLimits(requests: ResourceList, limits: ResourceList | undefined): FieldError[] {
  const found: FieldError[] = [];
  for (const name in requests) {
    const request = requests[name]!;
    const limit = amountIn(limits, name);
    if (request === limit) continue;
    const overcommit = canOvercommit(name);
    if (limit === undefined) {
      if (!overcommit) found.push(required('limits', 'Limit must be set for non overcommitable resources'));
      continue;
    }
    const difference = compareQuantities(parseQuantity(request), parseQuantity(limit));
    if (difference !== 0 && !overcommit) {
      found.push(invalid('requests', request, `must be equal to ${name} limit of ${limit}`));
    } else if (difference > 0) {
      found.push(invalid('requests', request, `must be less than or equal to ${name} limit of ${limit}`));
    }
  }
  return found;
}
