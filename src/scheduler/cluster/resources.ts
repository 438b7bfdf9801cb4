/** Requests of pods and allocatable resources of nodes: processors in millicores, memory and storage in bytes. */

import { parseQuantity, scaled } from '../../base/quantity.ts';
import type { Node, Pod } from '../objects.ts';

interface Resources {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
  /** Extended resources, huge pages and the like; undefined when there are none. */
  readonly others: ReadonlyMap<string, number> | undefined;
}

export interface Requests extends Resources {
  /** Requests for scores: a container without requests counts with a default. */
  readonly likelyCpu: number;
  readonly likelyKiB: number;
  /** Memory in KiB, rounded up. */
  readonly kiB: number;
}

const DEFAULT_CPU_MILLICORES = 100;
const DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024;

type Amounts = Readonly<Record<string, string>> | undefined;
type Container = Pod['spec']['containers'][number];
type Status = NonNullable<Pod['status']['containerStatuses']>[number];

class Sum {
  cpu = 0;
  memory = 0;
  storage = 0;
  others: Map<string, number> | undefined;

  get(name: string): number {
    switch (name) {
      case 'cpu':
        return this.cpu;
      case 'memory':
        return this.memory;
      case 'ephemeral-storage':
        return this.storage;
      default:
        return this.others?.get(name) ?? 0;
    }
  }

  set(name: string, amount: number): void {
    switch (name) {
      case 'cpu':
        this.cpu = amount;
        break;
      case 'memory':
        this.memory = amount;
        break;
      case 'ephemeral-storage':
        this.storage = amount;
        break;
      default:
        this.others ??= new Map();
        this.others.set(name, amount);
    }
  }

  add(amounts: Amounts): void {
    for (const name in amounts) this.set(name, this.get(name) + amountOf(name, amounts[name]!));
  }

  addSum(other: Sum): void {
    for (const name of other.names()) this.set(name, this.get(name) + other.get(name));
  }

  raise(other: Sum): void {
    for (const name of other.names()) this.set(name, Math.max(this.get(name), other.get(name)));
  }

  names(): string[] {
    return ['cpu', 'memory', 'ephemeral-storage', ...(this.others?.keys() ?? [])];
  }
}

function amountOf(name: string, text: string): number {
  return name === 'cpu' ? thousandths(text) : units(text);
}

/**
 * Returns the most that a pod needs at any time: its containers and sidecars together, or an init container with the sidecars
 * started before it. Pod-level requests replace that sum, and overhead is added.
 */
export function requestsOf(pod: Pod): Requests {
  const requested = sum(pod, undefined);
  const withDefaults = isVague(pod) ? sum(pod, DEFAULT_REQUEST) : requested;
  return {
    cpu: requested.cpu,
    memory: requested.memory,
    storage: requested.storage,
    others: requested.others,
    likelyCpu: withDefaults.cpu,
    likelyKiB: Math.ceil(withDefaults.memory / 1024),
    kiB: Math.ceil(requested.memory / 1024),
  };
}

export function sameRequests(a: Requests, b: Requests): boolean {
  return (
    a.cpu === b.cpu &&
    a.memory === b.memory &&
    a.storage === b.storage &&
    a.likelyCpu === b.likelyCpu &&
    a.likelyKiB === b.likelyKiB &&
    sameAmounts(a.others, b.others)
  );
}

function sameAmounts(a: Requests['others'], b: Requests['others']): boolean {
  if (!a || !b) return a === b;
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name) === amount);
}

const DEFAULT_REQUEST = { cpu: DEFAULT_CPU_MILLICORES, memory: DEFAULT_MEMORY_BYTES };

function isVague({ spec }: Pod): boolean {
  const vague = ({ resources }: Container) => {
    const requests: Amounts = resources.requests;
    return requests?.cpu === undefined || requests.memory === undefined;
  };
  return spec.containers.some(vague) || (spec.initContainers?.some(vague) ?? false);
}

function sum(pod: Pod, missing: typeof DEFAULT_REQUEST | undefined): Sum {
  const { spec, status } = pod;
  const total = new Sum();
  const resized = spec.nodeName ? resizing(status.containerStatuses) : NOT_RESIZED;
  for (const container of spec.containers) total.addSum(ofContainer(pod, container, resized(container), missing));
  if (spec.initContainers?.length) addInitContainers(pod, total, missing);
  const whole: Amounts = spec.resources?.requests;
  for (const name in whole) {
    if (name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')) {
      total.set(name, amountOf(name, whole[name]!));
    }
  }
  total.add(spec.overhead);
  return total;
}

function addInitContainers(pod: Pod, total: Sum, missing: typeof DEFAULT_REQUEST | undefined): void {
  const sidecars = new Sum();
  const peak = new Sum();
  const { spec, status } = pod;
  const resized = spec.nodeName ? resizing(status.initContainerStatuses) : NOT_RESIZED;
  for (const container of spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always';
    const own = ofContainer(pod, container, isSidecar ? resized(container) : undefined, missing);
    if (isSidecar) {
      total.addSum(own);
      sidecars.addSum(own);
      peak.raise(sidecars);
    } else {
      own.addSum(sidecars);
      peak.raise(own);
    }
  }
  total.raise(peak);
}

function ofContainer(
  pod: Pod,
  container: Container,
  resized: Status | undefined,
  missing: typeof DEFAULT_REQUEST | undefined,
): Sum {
  const out = new Sum();
  const requests: Amounts = container.resources.requests;
  if (resized) addResized(out, pod, requests, resized);
  else out.add(requests);
  if (missing) {
    if (requests?.cpu === undefined) out.cpu += missing.cpu;
    if (requests?.memory === undefined) out.memory += missing.memory;
  }
  return out;
}

const NOT_RESIZED = () => undefined;

/** Returns a function that finds the status with the actual resources of a container that may be resized. */
function resizing(statuses: readonly Status[] | undefined): (container: Container) => Status | undefined {
  if (!statuses?.some(({ resources }) => resources)) return NOT_RESIZED;
  const byName = new Map<string, Status>();
  for (const each of statuses) if (!byName.has(each.name)) byName.set(each.name, each);
  return ({ name }) => {
    const found = byName.get(name);
    return found?.resources ? found : undefined;
  };
}

/** Adds the larger amount until a resize is done; an infeasible one does not count. */
function addResized(out: Sum, { status }: Pod, wanted: Amounts, { resources, allocatedResources }: Status): void {
  const impossible = status.conditions?.some(
    (each) => each.type === 'PodResizePending' && each.reason === 'Infeasible',
  );
  for (const list of [impossible ? undefined : wanted, resources?.requests as Amounts, allocatedResources as Amounts]) {
    const each = new Sum();
    each.add(list);
    out.raise(each);
  }
}

export interface Allocatable extends Resources {
  readonly pods: number;
}

export function allocatableOf({ status }: Node): Allocatable {
  const offered: Amounts = status.allocatable ?? status.capacity;
  const total = new Sum();
  total.add(offered);
  const pods = total.others?.get('pods') ?? 0;
  total.others?.delete('pods');
  return { cpu: total.cpu, memory: total.memory, storage: total.storage, others: total.others, pods };
}

const MAX_CACHED = 4096;

const thousandths = remembered(3);
const units = remembered(0);

/** Converts quantities to numbers, with a cache: processors in millicores, all else in whole units, rounded up. */
function remembered(shift: number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = Number(scaled(parseQuantity(text), shift));
      if (known.size >= MAX_CACHED) known.clear();
      known.set(text, found);
    }
    return found;
  };
}
