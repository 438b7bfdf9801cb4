/**
 * Allocates cluster IPs and node ports to services. Each allocated address or port is a row of its own in the store, written
 * in the same commit as the service: nothing is allocated twice, by however many servers, and nothing leaks in a crash.
 */
import { addAll } from '../../base/collections/add-all.ts';
import type { Random } from '../../base/random.ts';
import type { Service } from '../../kinds/groups/core/service/service.ts';
import {
  type Allocated,
  allocatedTo,
  defaultServiceAddresses,
  needsClusterIp,
  needsHealthCheckNodePort,
  portsWithoutNodePort,
} from '../../kinds/groups/core/service/service-addresses.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import { type FieldError, invalid } from '../../schema/field-error.ts';
import type { Write } from '../../store/store.ts';
import type { Cache } from '../cache/cache.ts';
import { keyOf } from '../cache/keys.ts';
import { invalidObject } from '../objects/check.ts';
import type { IpRange, PortRange } from './ranges.ts';

const ADDRESSES = { group: 'allocations', plural: 'clusterips' };
const PORTS = { group: 'allocations', plural: 'nodeports' };

export interface AllocationOptions {
  readonly cache: Cache;
  readonly random: Random;
  /** One range for each IP family, the primary one first. */
  readonly addresses: readonly IpRange[];
  readonly ports: PortRange;
}

export class Allocation {
  readonly #options: AllocationOptions;

  constructor(options: AllocationOptions) {
    this.#options = options;
  }

  /** Fills in what the object lacks. Returns the rows to write with it, for what it takes and releases. */
  onWrite(kind: Kind, object: KubeObject, old: KubeObject | undefined): readonly Write[] {
    if (!isService(kind)) return [];
    const service = object as Service;
    const before = old as Service | undefined;
    // A spec that is shared with the stored object is unchanged, and must not be modified.
    if (service.spec === before?.spec) return [];
    const held: Allocated = before ? allocatedTo(before.spec) : { clusterIPs: [], nodePorts: [] };
    const errors = this.#fill(service, before, held);
    if (errors.length > 0)
      throw invalidObject({ group: kind.group, kind: kind.kind }, object.metadata.name ?? '', errors);
    return difference(
      held,
      allocatedTo(service.spec),
      keyOf(kind, object.metadata.namespace ?? '', object.metadata.name ?? ''),
    );
  }

  /** The rows to delete with an object that is removed. */
  onRemoval(kind: Kind, old: KubeObject): readonly Write[] {
    if (!isService(kind)) return [];
    return difference(allocatedTo((old as Service).spec), { clusterIPs: [], nodePorts: [] }, '');
  }

  #fill({ spec }: Service, before: Service | undefined, held: Allocated): FieldError[] {
    const { addresses } = this.#options;
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
      const range = this.#options.addresses.find((each) => each.family === family);
      if (!range) continue;
      const asked = given[index];
      if (!asked) {
        given[index] = this.#freeAddress(range, given);
        continue;
      }
      const problem = held.clusterIPs.includes(asked) ? undefined : this.#addressProblem(range, asked);
      if (problem) errors.push(invalid('spec.clusterIPs', given, `failed to allocate IP ${asked}: ${problem}`));
    }
    if (errors.length === 0 && given[0]) {
      spec.clusterIPs = given;
      spec.clusterIP = given[0];
    }
    return errors;
  }

  #addressProblem(range: IpRange, address: string): string | undefined {
    if (!range.contains(address)) {
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.text}`;
    }
    return this.#options.cache.table(ADDRESSES).get('', nameOf(address))
      ? 'provided IP is already allocated'
      : undefined;
  }

  #freeAddress(range: IpRange, given: readonly string[]): string {
    const taken = this.#options.cache.table(ADDRESSES);
    const start = this.#options.random.int(range.size);
    for (let i = 0; i < range.size; i++) {
      const address = range.at(1 + ((start + i) % range.size));
      if (!taken.get('', nameOf(address)) && !given.includes(address)) return address;
    }
    throw invalidObject({ group: '', kind: 'Service' }, '', [
      invalid('spec.clusterIPs', given, 'failed to allocate a serviceIP: range is full'),
    ]);
  }

  #fillPorts(spec: Service['spec'], held: Allocated): FieldError[] {
    const errors: FieldError[] = [];
    // A node port on services of other types is found by validation.
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
      // TCP and UDP of the same port share one node port.
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
    const { ports, cache } = this.#options;
    if (port < ports.first || port >= ports.first + ports.size) {
      return `provided port is not in the valid range. The range of valid ports is ${ports.text}`;
    }
    return cache.table(PORTS).get('', String(port)) ? 'provided port is already allocated' : undefined;
  }

  #freePort(mine: ReadonlySet<number>): number {
    const { ports, cache, random } = this.#options;
    const taken = cache.table(PORTS);
    const start = random.int(ports.size);
    for (let i = 0; i < ports.size; i++) {
      const port = ports.first + ((start + i) % ports.size);
      if (!mine.has(port) && !taken.get('', String(port))) return port;
    }
    throw invalidObject({ group: '', kind: 'Service' }, '', [
      invalid('spec.ports', ports.text, 'failed to allocate a nodePort: range is full'),
    ]);
  }
}

function isService(kind: Kind): boolean {
  return kind.group === '' && kind.kind === 'Service';
}

/** An address in the form that keys have. */
function nameOf(address: string): string {
  return address.toLowerCase();
}

function difference(before: Allocated, after: Allocated, owner: string): Write[] {
  const held = keysOf(before);
  const wanted = keysOf(after);
  const value = Buffer.from(JSON.stringify({ owner }));
  return [
    ...[...wanted].filter((key) => !held.has(key)).map((key): Write => ({ key, value, expect: 0 })),
    ...[...held].filter((key) => !wanted.has(key)).map((key): Write => ({ key, value: null })),
  ];
}

function keysOf({ clusterIPs, nodePorts }: Allocated): Set<string> {
  return new Set([
    ...clusterIPs.map((address) => keyOf(ADDRESSES, '', nameOf(address))),
    ...nodePorts.map((port) => keyOf(PORTS, '', String(port))),
  ]);
}
