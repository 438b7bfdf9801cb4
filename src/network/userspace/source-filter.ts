/** Decides which clients may connect. */
import { BlockList, isIPv6 } from 'node:net';

export class SourceFilter {
  readonly #allowed: BlockList | undefined;

  /** Addresses and ranges; undefined: all. */
  constructor(allowed: readonly string[] | undefined) {
    if (!allowed) return;
    this.#allowed = new BlockList();
    for (const source of allowed) {
      const [base = '', length] = source.split('/');
      const family = isIPv6(base) ? 'ipv6' : 'ipv4';
      if (length === undefined) this.#allowed.addAddress(base, family);
      else this.#allowed.addSubnet(base, Number(length), family);
    }
  }

  allows(client: string | undefined): boolean {
    if (!this.#allowed) return true;
    return client !== undefined && this.#allowed.check(client, isIPv6(client) ? 'ipv6' : 'ipv4');
  }
}
