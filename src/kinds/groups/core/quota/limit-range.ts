import { addAll } from '../../../../base/collections/add-all.ts';
import { compareQuantities, parseQuantity } from '../../../../base/quantity.ts';
import { s } from '../../../../schema/builders.ts';
import { duplicate, type FieldError, forbidden, invalid, required, under } from '../../../../schema/field-error.ts';
import { qualifiedName } from '../../../../schema/names.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { createdAt, name } from '../../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../../kind.ts';
import { amountIn, ResourceList } from '../../../shapes/container/resources.ts';
import { canOvercommit, containerResourceName, resourceName } from '../../../shapes/pod/resource-names.ts';

/** Entry of a LimitRange. */
interface Amounts {
  readonly type: string;
  readonly max?: ResourceList;
  readonly min?: ResourceList;
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
  readonly maxLimitRequestRatio?: ResourceList;
}

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];
const NOT_FOR_PODS = ['default', 'defaultRequest'] as const;
const LISTS = ['max', 'min', ...NOT_FOR_PODS, 'maxLimitRequestRatio'] as const;

const item = {
  type: s.string('Type of object that the limits apply to: Pod, Container or PersistentVolumeClaim.', { zero: true }),
  max: s.use(ResourceList, 'Maximum of each resource that one object may have as limit or request.'),
  min: s.use(ResourceList, 'Minimum of each resource that one object must request.'),
  default: s.use(ResourceList, 'Limits that a container gets where it sets none. Defaults to max.', {
    derive: limitsOfContainers,
  }),
  defaultRequest: s.use(
    ResourceList,
    'Requests that a container gets where it sets none. Defaults to default, then to min.',
    { derive: requestsOfContainers },
  ),
  maxLimitRequestRatio: s.use(
    ResourceList,
    'Maximum ratio of limit to request for each resource. Both must then be set.',
  ),
};

const fields = {
  spec: s.struct('LimitRangeSpec', 'Limits that are enforced in the namespace.', {
    limits: s.list(
      s.object('LimitRangeItem', 'Limits and defaults for objects of one type.', item),
      'Limits and defaults, for each type of object.',
      { zero: true, rules: [limitRules] },
    ),
  }),
};

export type LimitRange = KubeObject & ObjectType<typeof fields>;

/** Limits single pods, containers and claims of a namespace. */
export const LimitRange = defineKind({
  kind: 'LimitRange',
  short: ['limits'],
  scope: 'Namespaced',
  description: 'Limits the resources of each pod, container or claim of a namespace, and sets defaults for containers.',
  versions: { v1: {} },
  fields,
  onCreate: ({ metadata }: LimitRange, { uuid }: HookContext) => {
    metadata.name ||= uuid();
  },
  createOnUpdate: true,
  columns: [name, createdAt],
});

function limitsOfContainers(limit: Amounts): ResourceList | undefined {
  return limit.type === 'Container' ? filled({ ...limit.max, ...limit.default }) : limit.default;
}

function requestsOfContainers({ type, min, default: limits, defaultRequest }: Amounts): ResourceList | undefined {
  return type === 'Container' ? filled({ ...min, ...limits, ...defaultRequest }) : defaultRequest;
}

function filled(list: ResourceList): ResourceList | undefined {
  return Object.keys(list).length ? list : undefined;
}

/** A rule on the list of limits. */
function limitRules(limits: readonly Amounts[]): FieldError[] {
  const seen = new Set<string>();
  return limits.flatMap((limit, index) => {
    const found = typeName(limit.type);
    if (seen.has(limit.type)) found.push(duplicate('type', limit.type));
    seen.add(limit.type);
    return under(`[${index}]`, [...found, ...limitOf(limit)]);
  });
}

function typeName(type: string): FieldError[] {
  const complaints = qualifiedName(type);
  if (complaints.length === 0 && !type.includes('/') && !TYPES.includes(type)) {
    complaints.push('must be a standard limit type or fully qualified');
  }
  return complaints.map((complaint) => invalid('type', type, complaint));
}

function limitOf(limit: Amounts): FieldError[] {
  const isPod = limit.type === 'Pod';
  const lists = isPod ? (['max', 'min', 'maxLimitRequestRatio'] as const) : LISTS;
  const found = lists.flatMap((list) => resourceNames(list, limit));
  if (isPod) {
    for (const list of NOT_FOR_PODS) {
      if (limit[list]) found.push(forbidden(list, "may not be specified when `type` is 'Pod'"));
    }
  }
  const { max, min } = limit;
  if (limit.type === 'PersistentVolumeClaim' && !amountIn(min, 'storage') && !amountIn(max, 'storage')) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    found.push(required('limits', detail));
  }
  const names = new Set(lists.flatMap((list) => Object.keys(limit[list] ?? {})));
  const judged = isPod ? { ...limit, default: undefined, defaultRequest: undefined } : limit;
  for (const name of names) addAll(found, amountsOf(name, judged));
  return found;
}

/** Claims and unknown types may limit resources that containers cannot request. */
function resourceNames(list: (typeof LISTS)[number], limit: Amounts): FieldError[] {
  const check = limit.type === 'Pod' || limit.type === 'Container' ? containerResourceName : resourceName;
  return Object.keys(limit[list] ?? {}).flatMap((name) =>
    check(name).map((complaint) => invalid(`${list}[${name}]`, name, complaint)),
  );
}

/** Checks the amounts of one resource: min, defaultRequest, default and max are in ascending order. */
function amountsOf(name: string, limit: { readonly [L in (typeof LISTS)[number]]?: ResourceList | undefined }) {
  const [max, min, preset, request, ratio] = LISTS.map((list) => amountIn(limit[list], name));
  const found: FieldError[] = [];
  const add = (list: (typeof LISTS)[number], value: string | undefined, detail: string) =>
    found.push(invalid(`${list}[${name}]`, value, detail));
  if (exceeds(min, max)) add('min', min, `min value ${min} is greater than max value ${max}`);
  if (exceeds(min, request)) {
    add('defaultRequest', request, `min value ${min} is greater than default request value ${request}`);
  }
  if (exceeds(request, max)) {
    add('defaultRequest', request, `default request value ${request} is greater than max value ${max}`);
  }
  if (exceeds(request, preset)) {
    add('defaultRequest', request, `default request value ${request} is greater than default limit value ${preset}`);
  }
  if (exceeds(min, preset)) add('default', min, `min value ${min} is greater than default value ${preset}`);
  if (exceeds(preset, max)) add('default', max, `default value ${preset} is greater than max value ${max}`);
  if (exceeds('1', ratio)) add('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`);
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const widest = numberOf(max) / numberOf(min);
    if (numberOf(ratio) > widest) {
      add('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${widest.toFixed(6)}`);
    }
  }
  if (!canOvercommit(name) && (exceeds(preset, request) || exceeds(request, preset))) {
    const detail = `default value ${preset} must equal to defaultRequest value ${request} in ${name}`;
    add('defaultRequest', request, detail);
  }
  return found;
}

/** Reports whether both are given and the first is larger. */
function exceeds(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) > 0;
}

function numberOf(text: string): number {
  const { mantissa, exponent } = parseQuantity(text);
  return Number(mantissa) * 10 ** exponent;
}
