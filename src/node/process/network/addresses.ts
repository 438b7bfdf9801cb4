/** The addresses of pods, out of the node's range. */

export interface AddressRange {
  /** The first usable address, which the bridge has. */
  readonly gateway: string;
  readonly prefixLength: number;
  readonly network: number;
  readonly size: number;
}

/** Reads a range such as `10.244.0.0/24`. Throws when it is none for IPv4. */
export function parseRange(cidr: string): AddressRange {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr);
  const prefixLength = Number(match?.[5]);
  const parts = match?.slice(1, 5).map(Number) ?? [];
  if (!match || prefixLength < 8 || prefixLength > 29 || parts.some((part) => part > 255))
    throw new Error(`${cidr} is not a range of IPv4 addresses for pods, such as 10.244.0.0/24`);
  const size = 2 ** (32 - prefixLength);
  const address = parts.reduce((value, part) => value * 256 + part, 0);
  const network = address - (address % size);
  return { gateway: formatAddress(network + 1), prefixLength, network, size };
}

/**
 * Returns the next free address after the one that was given last, so that an address is not used again at once. Undefined
 * when all are in use.
 */
export function nextAddress(
  range: AddressRange,
  used: ReadonlySet<string>,
  last: string | undefined,
): string | undefined {
  // Neither the network's address, the gateway nor the broadcast address.
  const count = range.size - 3;
  const start = last === undefined ? 0 : numberOf(last) - range.network - 1;
  for (let i = 0; i < count; i++) {
    const address = formatAddress(range.network + 2 + ((((start + i) % count) + count) % count));
    if (!used.has(address)) return address;
  }
  return undefined;
}

function numberOf(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
