/** Divides the cluster CIDR among nodes and allocates pod addresses. IPv4 only. */

/** A node gets 256 addresses if the CIDR is large enough, and at least 8. */
const DEFAULT_SUBNET_BITS = 8;
const MIN_SUBNET_BITS = 3;
/** The network address, the gateway and the broadcast address. */
const RESERVED_ADDRESSES = 3;

export function parseAddress(text: string): number {
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** A CIDR divided into equal subnets. */
export interface Subnets {
  /** How many pods a subnet has addresses for. */
  readonly pods: number;
  at(index: number): string;
}

/** Returns undefined when the CIDR is too small for that many nodes. */
export function subnetsOf(range: string, nodes: number): Subnets | undefined {
  const [base = '', prefix = ''] = range.split('/');
  const needed = Math.ceil(Math.log2(Math.max(1, nodes)));
  const bits = Math.min(DEFAULT_SUBNET_BITS, 32 - Number(prefix) - needed);
  if (bits < MIN_SUBNET_BITS) return undefined;
  const first = parseAddress(base);
  return {
    pods: 2 ** bits - RESERVED_ADDRESSES,
    at: (index) => `${formatAddress(first + index * 2 ** bits)}/${32 - bits}`,
  };
}

/** The addresses of one node's pods. They are allocated round robin, so that a released one is not reused at once. */
export class AddressPool {
  readonly #first: number;
  readonly #size: number;
  /** UIDs of the pods that have the addresses, by offset. */
  readonly #holders = new Map<number, string>();
  #next = 0;

  constructor(range: string) {
    const [base = '', prefix = ''] = range.split('/');
    this.#first = parseAddress(base) + 2;
    this.#size = Math.max(0, 2 ** (32 - Number(prefix)) - RESERVED_ADDRESSES);
  }

  /** Returns undefined when none is free. `holder` is the pod's UID. */
  allocate(holder: string): string | undefined {
    for (let tries = 0; tries < this.#size; tries++) {
      const offset = this.#next;
      this.#next = (offset + 1) % this.#size;
      if (this.#holders.has(offset)) continue;
      this.#holders.set(offset, holder);
      return formatAddress(this.#first + offset);
    }
    return undefined;
  }

  /** Records an address that was allocated before a restart. */
  reserve(address: string, holder: string): void {
    this.#holders.set(parseAddress(address) - this.#first, holder);
  }

  /** Does nothing unless the pod holds the address: a terminated pod's status may name one that was reused. */
  release(address: string, holder: string): void {
    const offset = parseAddress(address) - this.#first;
    if (this.#holders.get(offset) === holder) this.#holders.delete(offset);
  }
}
