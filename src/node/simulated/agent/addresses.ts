/** Addresses: which range each node gives its pods' addresses from, and which of them are taken. IPv4. */

/** Nodes have 256 addresses for their pods where there is room for that, and 8 at least. */
const USUAL_BITS = 8;
const LEAST_BITS = 3;
/** Addresses of a range that are no pod's: its own, the gateway's and the last one. */
const RESERVED = 3;

export function parseAddress(text: string): number {
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** A range cut into as many equal ones as there are nodes. */
export interface Subnets {
  /** How many pods each has addresses for. */
  readonly pods: number;
  at(index: number): string;
}

/** Undefined when the range is too small for so many nodes. */
export function subnetsOf(range: string, nodes: number): Subnets | undefined {
  const [base = '', prefix = ''] = range.split('/');
  const needed = Math.ceil(Math.log2(Math.max(1, nodes)));
  const bits = Math.min(USUAL_BITS, 32 - Number(prefix) - needed);
  if (bits < LEAST_BITS) return undefined;
  const first = parseAddress(base);
  return {
    pods: 2 ** bits - RESERVED,
    at: (index) => `${formatAddress(first + index * 2 ** bits)}/${32 - bits}`,
  };
}

/** The addresses of one node's pods. They are given out in turn, so that one is not used again at once. */
export class AddressPool {
  readonly #first: number;
  readonly #size: number;
  /** Who has which. */
  readonly #holders = new Map<number, string>();
  #next = 0;

  constructor(range: string) {
    const [base = '', prefix = ''] = range.split('/');
    this.#first = parseAddress(base) + 2;
    this.#size = Math.max(0, 2 ** (32 - Number(prefix)) - RESERVED);
  }

  /** Undefined when all are taken. `holder`: the pod's uid. */
  take(holder: string): string | undefined {
    for (let tries = 0; tries < this.#size; tries++) {
      const offset = this.#next;
      this.#next = (offset + 1) % this.#size;
      if (this.#holders.has(offset)) continue;
      this.#holders.set(offset, holder);
      return formatAddress(this.#first + offset);
    }
    return undefined;
  }

  /** One that a pod had before the program started. */
  keep(address: string, holder: string): void {
    this.#holders.set(parseAddress(address) - this.#first, holder);
  }

  /** A pod that has ended still tells its address, which may be another's by then: who does not hold it gives nothing. */
  give(address: string, holder: string): void {
    const offset = parseAddress(address) - this.#first;
    if (this.#holders.get(offset) === holder) this.#holders.delete(offset);
  }
}
