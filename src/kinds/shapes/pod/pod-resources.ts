/** What the containers of a pod need together, and how that goes with what the pod asks for as a whole. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '../../../base/quantity.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Container } from '../container/container.ts';
import { amountIn, type ResourceList } from '../container/resources.ts';
import type { PodSpec } from './pod-spec.ts';
import { canOvercommit, isHugePages, isPodLevel } from './resource-names.ts';

/** By resource name. */
export type Amounts = Map<string, Quantity>;

/**
 * The containers run side by side, so their amounts add up. Init containers come before, one by one, each beside the
 * sidecars that were started before it, so of those the largest counts. `listOf` says what a container has, where that is
 * not what its spec says.
 */
export function containersTogether(
  spec: PodSpec,
  part: 'requests' | 'limits',
  listOf: (container: Container, part: 'requests' | 'limits') => ResourceList | undefined = inSpec,
): Amounts {
  const together: Amounts = new Map();
  const sidecars: Amounts = new Map();
  const largest: Amounts = new Map();
  for (const container of spec.containers ?? []) add(together, listOf(container, part));
  for (const container of spec.initContainers ?? []) {
    const list = listOf(container, part);
    const atOnce: Amounts = new Map(sidecars);
    add(atOnce, list);
    if (container.restartPolicy === 'Always') {
      add(together, list);
      add(sidecars, list);
    }
    raise(largest, atOnce);
  }
  raise(together, largest);
  return together;
}

const inSpec = ({ resources }: Container, part: 'requests' | 'limits') => resources[part];

function add(sum: Amounts, list: ResourceList | undefined): void {
  for (const name in list) {
    const amount = parseQuantity(list[name]!);
    const before = sum.get(name);
    sum.set(name, before ? addQuantities(before, amount) : amount);
  }
}

function raise(amounts: Amounts, least: Amounts): void {
  for (const [name, amount] of least) {
    const before = amounts.get(name);
    if (!before || compareQuantities(before, amount) < 0) amounts.set(name, amount);
  }
}

/** What a pod leaves out of its own resources: huge pages as its containers limit them, requests as they request. */
export function fillPodResources(spec: PodSpec): void {
  const { resources } = spec;
  if (!resources?.limits && !resources?.requests) return;
  const limits: ResourceList = { ...resources.limits };
  for (const [name, amount] of containersTogether(spec, 'limits')) {
    if (isHugePages(name) && resources.requests?.[name] === undefined) limits[name] ??= formatQuantity(amount);
  }
  if (Object.keys(limits).length === 0) return;
  const requests: ResourceList = { ...resources.requests };
  for (const [name, amount] of containersTogether(spec, 'requests')) {
    if (isPodLevel(name) && canOvercommit(name)) requests[name] ??= formatQuantity(amount);
  }
  for (const name in limits) if (isPodLevel(name)) requests[name] ??= limits[name]!;
  spec.resources = { ...resources, limits, ...(Object.keys(requests).length ? { requests } : {}) };
}

export function podResourceRules(spec: PodSpec): FieldError[] {
  const { resources } = spec;
  if (!resources) return [];
  return [
    ...covers(spec, 'requests', () => true),
    ...covers(spec, 'limits', isHugePages),
    ...withinPod(spec, resources.limits),
  ];
}

/** The pod's own amounts are not below those of its containers. */
function covers(spec: PodSpec, part: 'requests' | 'limits', counts: (name: string) => boolean): FieldError[] {
  const own = spec.resources?.[part];
  if (!own) return [];
  const found: FieldError[] = [];
  for (const [name, amount] of containersTogether(spec, part)) {
    const mine = amountIn(own, name);
    if (mine === undefined || !counts(name) || compareQuantities(amount, parseQuantity(mine)) <= 0) continue;
    const detail = `must be greater than or equal to aggregate container ${part} of ${formatQuantity(amount)}`;
    found.push(invalid(`resources.${part}[${name}]`, mine, detail));
  }
  return found;
}

function withinPod({ containers }: PodSpec, limits: ResourceList = {}): FieldError[] {
  return (containers ?? []).flatMap(({ resources }, index) =>
    Object.entries(resources.limits ?? {}).flatMap(([name, limit]) => {
      const most = amountIn(limits, name);
      if (most === undefined || compareQuantities(parseQuantity(limit), parseQuantity(most)) <= 0) return [];
      const field = `resources.containers[${index}][${name}].limits`;
      return [invalid(field, limit, `must be less than or equal to pod limits of ${most}`)];
    }),
  );
}
