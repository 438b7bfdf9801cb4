/**
 * Allocates cluster IPs and node ports to services. Each allocated address is an IPAddress and each port a row of its
 * own in the store, written in the same commit as the service: several servers cannot allocate anything twice, and a
 * crash leaks nothing.
 */
import { addAll } from '../../../base/collections/add-all.ts';
import type { Random } from '../../../base/random.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import {
  type Allocated,
  allocatedTo,
  defaultServiceAddresses,
  needsClusterIp,
  needsHealthCheckNodePort,
  portsWithoutNodePort,
} from '../../../kinds/groups/core/service/service-addresses.ts';
import { IPAddress } from '../../../kinds/groups/networking/ip-address.ts';
import { ServiceCIDR } from '../../../kinds/groups/networking/service-cidr.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { canonicalIp } from '../../../kinds/shapes/meta/addresses/canonical-ip.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Write } from '../../../store/store.ts';
import { invalidObject } from '../body/check.ts';
import type { Cache } from '../cache/cache.ts';
import { keyOf } from '../cache/keys.ts';
import { type IpRange, ipRange, type PortRange } from './ranges.ts';

export const PORTS = { group: 'allocations', plural: 'nodeports' };

export interface AllocationOptions {
  readonly cache: Cache;
  readonly random: Random;
  /** A range for each IP family, the primary one first. ServiceCIDRs add others. */
  readonly addresses: readonly IpRange[];
  readonly ports: PortRange;
}

/** Writes that accompany the write of an object. */
export interface Allocations {
  /** Rows of the node ports that it takes and releases, and of the addresses that it releases. */
  readonly rows: readonly Write[];
  /** Addresses that it takes, in canonical form: each must become an IPAddress. */
  readonly addresses: readonly string[];
}

export const NO_ALLOCATIONS: Allocations = Object.freeze({ rows: [], addresses: [] });

export class Allocation {
  readonly #ranges: ServiceRanges;

  constructor(private readonly options: AllocationOptions) {
    this.#ranges = new ServiceRanges(options.cache, options.addresses);
  }

  /** Fills in missing values of the object. Returns what it takes and releases. */
  onWrite(kind: Kind, object: KubeObject, old: KubeObject | undefined): Allocations {
    if (!isService(kind)) return NO_ALLOCATIONS;
    const service = object as Service;
    const before = old as Service | undefined;
    // A spec that is shared with the stored object is unchanged, and must not be modified.
    if (service.spec === before?.spec) return NO_ALLOCATIONS;
    const held: Allocated = before ? allocatedTo(before.spec) : { clusterIPs: [], nodePorts: [] };
    const errors = this.#fill(service, before, held);
    if (errors.length > 0)
      throw invalidObject({ group: kind.group, kind: kind.kind }, object.metadata.name ?? '', errors);
    return this.#difference(service, held, allocatedTo(service.spec));
  }

  /** Reports whether all that an object asks for is free. */
  isAvailable(kind: Kind, object: KubeObject): boolean {
    if (!isService(kind)) return true;
    const { clusterIPs, nodePorts } = allocatedTo((object as Service).spec);
    const taken = this.options.cache.table(PORTS);
    return (
      clusterIPs.every((address) => !this.#isTaken(address)) && nodePorts.every((port) => !taken.get('', String(port)))
    );
  }

  /** Returns what an object releases on removal. */
  onRemoval(kind: Kind, old: KubeObject): Allocations {
    if (!isService(kind)) return NO_ALLOCATIONS;
    const service = old as Service;
    return this.#difference(service, allocatedTo(service.spec), { clusterIPs: [], nodePorts: [] });
  }

  #difference(service: Service, before: Allocated, after: Allocated): Allocations {
    const ports = { held: new Set(before.nodePorts), wanted: new Set(after.nodePorts) };
    const addresses = {
      held: new Set(before.clusterIPs.map(canonicalIp)),
      wanted: new Set(after.clusterIPs.map(canonicalIp)),
    };
    const { namespace = '', name = '' } = service.metadata;
    const keyOfPort = (port: number) => keyOf(PORTS, '', String(port));
    const value = Buffer.from(JSON.stringify({ owner: keyOf(Service, namespace, name) }));
    return {
      rows: [
        ...without(ports.wanted, ports.held).map((port): Write => ({ key: keyOfPort(port), value, expect: 0 })),
        ...without(ports.held, ports.wanted).map((port): Write => ({ key: keyOfPort(port), value: null })),
        ...without(addresses.held, addresses.wanted).flatMap((address) => this.#release(address, service)),
      ],
      addresses: without(addresses.wanted, addresses.held),
    };
  }

  /** Removes an IPAddress that belongs to the service. */
  #release(address: string, { metadata }: Service): Write[] {
    const entry = this.options.cache.table(IPAddress).get('', address);
    const parent = entry && (entry.hub(IPAddress) as IPAddress).spec.parentRef;
    if (parent?.resource !== 'services' || parent.name !== metadata.name || parent.namespace !== metadata.namespace) {
      return [];
    }
    return [{ key: entry!.at.key, value: null, expect: entry!.revision }];
  }

  #fill({ spec }: Service, before: Service | undefined, held: Allocated): FieldError[] {
    const { addresses } = this.options;
    const errors = defaultServiceAddresses(
      spec,
      before?.spec,
      addresses.map((range) => range.family),
    );
    if (errors.length > 0) return errors;
    if (needsClusterIp(spec)) addAll(errors, this.#fillAddresses(spec, held));
    addAll(errors, this.#fillPorts(spec, held));
    return errors;
  }

  #fillAddresses(spec: Service['spec'], held: Allocated): FieldError[] {
    const given = [...(spec.clusterIPs ?? [])];
    const errors: FieldError[] = [];
    for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
      if (!this.options.addresses.some((each) => each.family === family)) continue;
      const ranges = this.#ranges.open().filter((each) => each.family === family);
      const asked = given[index];
      if (!asked) {
        given[index] = this.#freeAddress(ranges, given);
        continue;
      }
      const problem = held.clusterIPs.includes(asked) ? undefined : this.#addressProblem(ranges, asked);
      if (problem) errors.push(invalid('spec.clusterIPs', given, `failed to allocate IP ${asked}: ${problem}`));
    }
    if (errors.length === 0 && given[0]) {
      spec.clusterIPs = given;
      spec.clusterIP = given[0];
    }
    return errors;
  }

  #addressProblem(ranges: readonly IpRange[], address: string): string | undefined {
    if (!ranges.some((range) => range.contains(address))) {
      return 'the provided network does not match the current range';
    }
    return this.#isTaken(address) ? 'provided IP is already allocated' : undefined;
  }

  #freeAddress(ranges: readonly IpRange[], given: readonly string[]): string {
    const isFree = (address: string) => !this.#isTaken(address) && !given.includes(address);
    for (const range of ranges) {
      const index = this.#choose(range, (each) => isFree(range.at(1 + each)));
      if (index !== undefined) return range.at(1 + index);
    }
    throw invalidObject({ group: '', kind: 'Service' }, '', [
      invalid('spec.clusterIPs', given, 'failed to allocate a serviceIP: range is full'),
    ]);
  }

  #isTaken(address: string): boolean {
    return this.options.cache.table(IPAddress).get('', canonicalIp(address)) !== undefined;
  }

  /** Chooses a free index at random, outside the reserved part if possible. */
  #choose(
    { size, reserved }: Pick<IpRange, 'size' | 'reserved'>,
    isFree: (index: number) => boolean,
  ): number | undefined {
    for (const [from, to] of [
      [reserved, size],
      [0, Math.min(reserved, size)],
    ] as const) {
      const count = to - from;
      if (count <= 0) continue;
      const start = this.options.random.int(count);
      for (let i = 0; i < count; i++) {
        const index = from + ((start + i) % count);
        if (isFree(index)) return index;
      }
    }
    return undefined;
  }

  #fillPorts(spec: Service['spec'], held: Allocated): FieldError[] {
    const errors: FieldError[] = [];
    // Validation rejects a node port on services of other types.
    if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') return errors;
    const mine = new Set<number>();
    for (const [index, port] of (spec.ports ?? []).entries()) {
      if (!port.nodePort) continue;
      const problem =
        held.nodePorts.includes(port.nodePort) || mine.has(port.nodePort)
          ? undefined
          : this.#portProblem(port.nodePort);
      if (problem) errors.push(invalid(`spec.ports[${index}].nodePort`, port.nodePort, problem));
      mine.add(port.nodePort);
    }
    if (errors.length > 0) return errors;
    for (const port of portsWithoutNodePort(spec)) {
      // TCP and UDP on the same port share one node port.
      const twin = spec.ports?.find(
        (each) => each !== port && each.port === port.port && each.protocol !== port.protocol,
      );
      port.nodePort = twin?.nodePort ?? this.#freePort(mine);
      mine.add(port.nodePort);
    }
    if (needsHealthCheckNodePort(spec) && !spec.healthCheckNodePort) spec.healthCheckNodePort = this.#freePort(mine);
    return errors;
  }

  #portProblem(port: number): string | undefined {
    const { ports, cache } = this.options;
    if (port < ports.first || port >= ports.first + ports.size) {
      return `provided port is not in the valid range. The range of valid ports is ${ports.text}`;
    }
    return cache.table(PORTS).get('', String(port)) ? 'provided port is already allocated' : undefined;
  }

  #freePort(mine: ReadonlySet<number>): number {
    const { ports, cache } = this.options;
    const taken = cache.table(PORTS);
    const index = this.#choose(ports, (each) => {
      const port = ports.first + each;
      return !mine.has(port) && !taken.get('', String(port));
    });
    if (index !== undefined) return ports.first + index;
    throw invalidObject({ group: '', kind: 'Service' }, '', [
      invalid('spec.ports', ports.text, 'failed to allocate a nodePort: range is full'),
    ]);
  }
}

function isService(kind: Kind): boolean {
  return kind.group === '' && kind.kind === 'Service';
}

function without<T>(all: ReadonlySet<T>, others: ReadonlySet<T>): T[] {
  return [...all].filter((each) => !others.has(each));
}

/** The current ranges for cluster IPs: those of the server's flags, and of ready ServiceCIDRs. */
class ServiceRanges {
  #generation: number | undefined;
  #open: readonly IpRange[] = [];

  constructor(
    private readonly cache: Cache,
    private readonly configured: readonly IpRange[],
  ) {}

  open(): readonly IpRange[] {
    const { generation } = this.cache.table(ServiceCIDR);
    if (generation !== this.#generation) {
      this.#open = this.#find();
      this.#generation = generation;
    }
    return this.#open;
  }

  #find(): IpRange[] {
    const ready = new Set<string>();
    const closed = new Set<string>();
    for (const entry of this.cache.table(ServiceCIDR).entries('')) {
      const { spec, status, metadata } = entry.hub(ServiceCIDR) as ServiceCIDR;
      const condition = status.conditions?.find(({ type }) => type === 'Ready')?.status;
      const isClosed = metadata.deletionTimestamp !== undefined || condition === 'False';
      for (const cidr of spec.cidrs ?? []) {
        if (isClosed) closed.add(cidr);
        else if (condition === 'True') ready.add(cidr);
      }
    }
    // The configured ranges are needed before any controller could mark them ready.
    const own = this.configured.filter(({ cidr }) => ready.has(cidr) || !closed.has(cidr));
    const others = [...ready].filter((cidr) => !own.some((each) => each.cidr === cidr));
    return [...own, ...others.flatMap((cidr) => ipRange(cidr) ?? [])];
  }
}
