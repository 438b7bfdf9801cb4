/** The fronts that Services ask for. Of several Services with one address, the first in the order of names has it. */
import { type Front, keyOfFront } from './fronts.ts';

export class FrontTable {
  readonly #keysOf = new Map<string, readonly string[]>();
  readonly #wanted = new Map<string, Map<string, Front>>();

  /** Services that have fronts. */
  get services(): Iterable<string> {
    return this.#keysOf.keys();
  }

  /** Replaces the fronts of a Service. Returns the keys of those that may have changed. */
  set(service: string, fronts: readonly Front[]): ReadonlySet<string> {
    const before = this.#keysOf.get(service) ?? [];
    for (const key of before) this.#remove(key, service);
    for (const front of fronts) {
      const key = keyOfFront(front);
      const owners = this.#wanted.get(key) ?? new Map<string, Front>();
      this.#wanted.set(key, owners.set(service, front));
    }
    const after = fronts.map(keyOfFront);
    if (after.length > 0) this.#keysOf.set(service, after);
    else this.#keysOf.delete(service);
    return new Set([...before, ...after]);
  }

  get(key: string): Front | undefined {
    const owners = this.#wanted.get(key);
    const [first] = [...(owners?.keys() ?? [])].sort();
    return first === undefined ? undefined : owners?.get(first);
  }

  #remove(key: string, service: string): void {
    const owners = this.#wanted.get(key);
    owners?.delete(service);
    if (owners?.size === 0) this.#wanted.delete(key);
  }
}
