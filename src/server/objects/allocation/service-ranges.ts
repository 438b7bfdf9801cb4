import { ServiceCIDR } from '../../../kinds/groups/networking/service-cidr.ts';
import type { Cache } from '../cache/cache.ts';
import { type IpRange, ipRange } from './ranges.ts';

/** The current ranges for cluster IPs: those of the server's flags, and of ready ServiceCIDRs. */
export class ServiceRanges {
  readonly #cache: Cache;
  readonly #configured: readonly IpRange[];
  #generation: number | undefined;
  #open: readonly IpRange[] = [];

  constructor(cache: Cache, configured: readonly IpRange[]) {
    this.#cache = cache;
    this.#configured = configured;
  }

  open(): readonly IpRange[] {
    const { generation } = this.#cache.table(ServiceCIDR);
    if (generation !== this.#generation) {
      this.#open = this.#find();
      this.#generation = generation;
    }
    return this.#open;
  }

  #find(): IpRange[] {
    const ready = new Set<string>();
    const closed = new Set<string>();
    for (const entry of this.#cache.table(ServiceCIDR).entries('')) {
      const { spec, status, metadata } = entry.hub(ServiceCIDR) as ServiceCIDR;
      const condition = status.conditions?.find(({ type }) => type === 'Ready')?.status;
      const isClosed = metadata.deletionTimestamp !== undefined || condition === 'False';
      for (const cidr of spec.cidrs ?? []) {
        if (isClosed) closed.add(cidr);
        else if (condition === 'True') ready.add(cidr);
      }
    }
    // The configured ranges are needed before any controller could mark them ready.
    const own = this.#configured.filter(({ cidr }) => ready.has(cidr) || !closed.has(cidr));
    const others = [...ready].filter((cidr) => !own.some((each) => each.cidr === cidr));
    return [...own, ...others.flatMap((cidr) => ipRange(cidr) ?? [])];
  }
}
