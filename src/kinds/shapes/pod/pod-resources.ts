/** The resources of all containers of a pod together, and how they relate to pod-level resources. */
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
import type { PodSpecFields as PodSpec } from './pod-spec-fields.ts';
import { canOvercommit, isHugePages, isPodLevel } from './resource-names.ts';

/** Amounts by resource name. */
export type Amounts = Map<string, Quantity>;

/**
 * The sum over the containers and sidecars, or, if that is larger, the amount of an init container with the sidecars that
 * run beside it. `listOf` returns the resources of a container, where they are not those of its spec.
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

const inSpec = ({ resources }: Partial<Container>, part: 'requests' | 'limits') => resources?.[part];

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

/** Defaults of pod-level resources: huge pages from the containers' limits, requests from their requests. */
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

/** Pod-level amounts must not be below those of the containers. */
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
