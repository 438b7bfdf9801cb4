/** Sums of resources. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
} from '../../base/quantity.ts';
import type { ResourceList } from '../shapes/container/resources.ts';
import type { Amounts } from '../shapes/pod/pod-resources.ts';

export const NOTHING = parseQuantity('0');
export const ONE = parseQuantity('1');

export function amountsOf(list: Readonly<ResourceList> = {}): Amounts {
  return new Map(Object.entries(list).map(([name, amount]) => [name, parseQuantity(amount)]));
}

export function listOf(amounts: ReadonlyMap<string, ReturnType<typeof parseQuantity>>): ResourceList {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** Adds to `sum` in place. */
export function addTo(sum: Amounts, more: Amounts): Amounts {
  for (const [name, amount] of more) sum.set(name, addQuantities(sum.get(name) ?? NOTHING, amount));
  return sum;
}

/** Returns the growth of each resource; resources that shrank are left out. */
export function growth(now: Amounts, before: Amounts): Amounts {
  const grown: Amounts = new Map();
  for (const [name, amount] of now) {
    const difference = subtractQuantities(amount, before.get(name) ?? NOTHING);
    if (compareQuantities(difference, NOTHING) > 0) grown.set(name, difference);
  }
  return grown;
}

/** `cpu=1,pods=2`, in the order of names. */
export function amountsText(amounts: Amounts): string {
  const names = [...amounts.keys()].sort();
  return names.map((name) => `${name}=${formatQuantity(amounts.get(name)!)}`).join(',');
}

export function only(amounts: Amounts, keep: (name: string) => boolean): Amounts {
  return new Map([...amounts].filter(([name]) => keep(name)));
}
