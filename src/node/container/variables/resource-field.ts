/** The resources of a container as the downward API shows them: in units of a divisor, rounded up. */
import { parseQuantity, type Quantity, scaled } from '../../../base/quantity.ts';
import type { SeenContainer, SeenPod } from '../../pod/container-run.ts';
import { ContainerConfigError } from '../inputs.ts';

export interface ResourceField {
  readonly containerName?: string;
  readonly resource: string;
  readonly divisor?: string;
}

type ResourceList = Readonly<Record<string, string>>;

const ZERO = parseQuantity('0');
const MILLI = 3;

/** Limits that default to what the node can give. */
const LIMITED_BY_NODE = ['cpu', 'memory', 'ephemeral-storage'];
const LIMITED_BY_POD = ['cpu', 'memory'];

/** `container` is used when the field names none. */
export function resourceField(
  { containerName, resource, divisor = '0' }: ResourceField,
  pod: SeenPod,
  container: SeenContainer | undefined,
  allocatable: ResourceList,
): string {
  const shown = containerName ? containerOf(pod, containerName) : container;
  if (!shown) throw new ContainerConfigError(`container ${containerName ?? ''} not found`);
  const match = /^(limits|requests)\.(.+)$/.exec(resource);
  const [, part, name] = match ?? [];
  if (!part || !name || !(LIMITED_BY_NODE.includes(name) || name.startsWith('hugepages-'))) {
    throw new ContainerConfigError(`unsupported container resource : ${resource}`);
  }
  const amount = part === 'limits' ? limitOf(shown, pod, name, allocatable) : amountIn(shown.resources?.requests, name);
  const unit = parseQuantity(divisor);
  return String(inUnits(amount, unit.mantissa === 0n ? parseQuantity('1') : unit, name === 'cpu' ? MILLI : 0));
}

function limitOf({ resources }: SeenContainer, { spec }: SeenPod, name: string, allocatable: ResourceList): Quantity {
  const own = amountIn(resources?.limits, name);
  if (own.mantissa !== 0n || !LIMITED_BY_NODE.includes(name)) return own;
  const ofPod = LIMITED_BY_POD.includes(name) ? amountIn(spec.resources?.limits, name) : ZERO;
  return ofPod.mantissa === 0n ? amountIn(allocatable, name) : ofPod;
}

/** Both are compared in whole units of `power`, rounded up, as in Kubernetes. */
function inUnits(amount: Quantity, unit: Quantity, power: number): bigint {
  const total = scaled(amount, power);
  const size = scaled(unit, power);
  return (total + size - 1n) / size;
}

const amountIn = (list: ResourceList | undefined, name: string): Quantity =>
  list && Object.hasOwn(list, name) ? parseQuantity(list[name]!) : ZERO;

function containerOf({ spec }: SeenPod, name: string): SeenContainer {
  const found = [...spec.containers, ...(spec.initContainers ?? [])].find((each) => each.name === name);
  if (!found) throw new ContainerConfigError(`container ${name} not found`);
  return found;
}
