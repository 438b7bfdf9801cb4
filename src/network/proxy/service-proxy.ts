/** Keeps the rules of a node up to date with the API. */

import type { Server } from 'node:net';
import type { DeepReadonly } from '../../api/object-types.ts';
import { inTurns } from '../../base/event-loop/in-turns.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { sleep } from '../../base/time/clock.ts';
import { createEventRecorder, type EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { type Change, keyOf, type Lister } from '../../client/informer/object-cache.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { portsInUse } from '../../kinds/groups/core/node/ports-in-use.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { ServiceCIDR } from '../../kinds/groups/networking/service-cidr.ts';
import { canonicalRange } from '../../kinds/shapes/meta/addresses/ip-range.ts';
import type { NetworkPort } from '../kernel/ports/listening-sockets.ts';
import { NO_RULES, type NodeFacts, type RuleApplier, type ServiceRules } from '../rules/rule-set.ts';
import { serviceRules } from '../rules/service-rules.ts';
import { ApiFollower, type ApiFollowerOptions } from './api-follower.ts';
import { HealthChecks } from './health-checks.ts';
import { HostPorts, nameOfHostPort, type WantedRules } from './host-ports.ts';

export interface ServiceProxyOptions extends ApiFollowerOptions {
  /** The name of the node. */
  readonly node: string;
  readonly addresses: readonly string[];
  readonly applier: RuleApplier;
  /** Returns ports of the node that are in use: by sockets, and by rules of other nodes and clusters. */
  readonly listeners: () => Promise<readonly NetworkPort[]>;
  /** Makes a server listen on a port of the node. Rejects when it cannot. */
  readonly listen: (server: Server, port: number) => Promise<void>;
  /** Tells the cluster which ports services asked for and did not get, as `TCP/22`. */
  readonly reportPortsInUse: (ports: readonly string[]) => Promise<void>;
}

const SERVICE_NAME = 'kubernetes.io/service-name';
/** Time in which a busy program accepts the connections that wait. */
const SETTLE_MS = 300;
const ZONE = 'topology.kubernetes.io/zone';

type Slice = DeepReadonly<EndpointSlice>;

/** The service that a slice belongs to, as `namespace/name`. */
function serviceOf({ metadata }: Slice): readonly string[] {
  const name = metadata.labels?.[SERVICE_NAME];
  return name ? [`${metadata.namespace}/${name}`] : [];
}

const addressesIn = ({ endpoints }: Slice) => endpoints.flatMap((each) => each.addresses ?? []);

/** Reports whether a slice does not show yet that the endpoint is terminating. */
function isOpenAt({ endpoints }: Slice, address: string): boolean {
  return endpoints.some(
    ({ addresses, conditions }) =>
      addresses?.includes(address) && conditions?.ready !== false && conditions?.terminating !== true,
  );
}

export class ServiceProxy {
  readonly #follower: ApiFollower;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #ranges: Informer<ServiceCIDR>;
  readonly #nodes: Informer<Node>;
  readonly #events: EventRecorder;
  readonly #healthChecks: HealthChecks;
  readonly #hostPorts: HostPorts;
  readonly #turns: TurnBudget;
  /** Ports of the node that services request and other programs have, by service. */
  readonly #rejected = new Map<string, readonly string[]>();
  /** Services whose rules may have changed. */
  #dirty = new Set<string>();
  #isEverythingDirty = true;
  #zone: string | undefined;
  #reservedRanges: readonly string[] | undefined;

  /** Resolves when all services that existed at the start are served. Stays pending when it is stopped before. */
  readonly applied: Promise<void>;

  constructor(private readonly options: ServiceProxyOptions) {
    this.#turns = new TurnBudget(options.clock);
    this.#follower = new ApiFollower(options, {
      subject: 'the rules of services',
      apply: (isRepeated) => this.#apply(isRepeated),
    });
    const { informers, signal } = this.#follower;
    this.#events = createEventRecorder({ ...options, signal, component: 'service-proxy', host: options.node });
    this.#healthChecks = new HealthChecks(options);
    this.#hostPorts = new HostPorts({ listeners: options.listeners, addresses: options.addresses });
    this.#services = informers.of(Service);
    this.#slices = informers.of(EndpointSlice);
    this.#ranges = informers.of(ServiceCIDR);
    this.#nodes = informers.of(Node);
    this.#services.onChange(({ object }) => this.#changed([keyOf(object)]));
    this.#slices.onChange((change) => this.#changed(servicesOf(change)));
    this.#ranges.onChange(() => this.#rangesChanged());
    this.#nodes.onChange((change) => this.#nodeChanged(change));
    this.applied = this.#follower.open([this.#services, this.#slices, this.#ranges, this.#nodes]);
  }

  /**
   * Resolves when no new connections are sent to pods that end with these addresses, because others are there. Rejects when it is
   * aborted.
   */
  async drained(addresses: readonly string[], signal: AbortSignal): Promise<void> {
    const slicesWith = (slices: Lister<EndpointSlice>, address: string) => slices.by(addressesIn, address);
    if (!addresses.some((address) => slicesWith(this.#slices.lister, address).length > 0)) return;
    const isDrained = (slices: Lister<EndpointSlice>) =>
      !addresses.some((address) => slicesWith(slices, address).some((slice) => isOpenAt(slice, address)));
    await this.#slices.until(isDrained, signal);
    await this.#follower.applied();
    // The last connections were just sent, and wait to be accepted.
    await sleep(this.options.clock, SETTLE_MS, signal);
  }

  /** Stops following the API. Applied rules stay, and the applier remains open. */
  async stop(): Promise<void> {
    await this.#follower.stop();
    await this.#healthChecks.close();
  }

  #changed(services: readonly string[]): void {
    for (const key of services) this.#dirty.add(key);
    this.#follower.changed();
  }

  #nodeChanged(change: Change<Node>): void {
    const { object } = change;
    const before = change.type === 'update' ? change.old.spec.podCIDRs : [];
    if ((object.spec.podCIDRs ?? []).join() !== (before ?? []).join()) this.#rangesChanged();
    if (object.metadata.name === this.options.node) this.#zoneChanged(object.metadata.labels?.[ZONE]);
  }

  /** Handles changed ranges of the cluster, on which only external IPs depend. */
  #rangesChanged(): void {
    this.#reservedRanges = undefined;
    const services = this.#services.lister.list().filter(({ spec }) => spec.externalIPs?.length);
    this.#changed(services.map(keyOf));
  }

  #zoneChanged(zone: string | undefined): void {
    if (zone === this.#zone) return;
    this.#zone = zone;
    this.#isEverythingDirty = true;
    this.#follower.changed();
  }

  async #apply(isRepeated: boolean): Promise<void> {
    const { applier } = this.options;
    const keys = this.#isEverythingDirty || isRepeated ? this.#allKeys() : this.#dirty;
    this.#dirty = new Set();
    this.#isEverythingDirty = false;
    const wanted = new Map<string, WantedRules>();
    for (const key of [...keys]) {
      const rules = this.#rulesOf(key);
      wanted.set(key, { service: this.#serviceOf(key), rules: rules instanceof Promise ? await rules : rules });
    }
    const decisions = await this.#hostPorts.decide(wanted);
    const services = new Map([...decisions].map(([key, { rules }]) => [key, rules]));
    await applier.apply({ services, serviceRanges: this.#serviceRanges() });
    for (const [key, { rejected }] of decisions) this.#reject(key, rejected.map(nameOfHostPort));
    await this.#reportRejected();
    for (const [key, { healthCheck }] of services) await this.#healthChecks.set(key, healthCheck);
  }

  /** Returns the keys of all services; those of deleted ones are in the set of changes. */
  #allKeys(): Iterable<string> {
    return new Set([...this.#services.lister.list().map(keyOf), ...this.#dirty]);
  }

  #serviceOf(key: string): DeepReadonly<Service> | undefined {
    const [namespace, name = ''] = key.split('/');
    return this.#services.lister.get(name, namespace);
  }

  #reject(key: string, rejected: readonly string[]): void {
    const ports = [...new Set(rejected)];
    const service = this.#serviceOf(key);
    const isNew = ports.join() !== (this.#rejected.get(key) ?? []).join();
    if (ports.length > 0) this.#rejected.set(key, ports);
    else this.#rejected.delete(key);
    if (!isNew || !service || ports.length === 0) return;
    const message = `Something else listens on ${ports.join(', ')} of node ${this.options.node}: the service is not reached there`;
    this.#events.event(service, 'Warning', 'PortInUse', message);
  }

  /** Reports the ports in use when the Node shows others. Rules stay in effect even when they cannot be reported. */
  async #reportRejected(): Promise<void> {
    const { node, log, reportPortsInUse } = this.options;
    const ports = [...new Set([...this.#rejected.values()].flat())].sort();
    const known = this.#nodes.lister.get(node);
    if (!known || portsInUse(known).join() === ports.join()) return;
    await reportPortsInUse(ports).catch((error: unknown) =>
      log.warn('the ports in use could not be reported', { ports, error: String(error) }),
    );
  }

  #rulesOf(key: string): ServiceRules | Promise<ServiceRules> {
    const { node, addresses } = this.options;
    const service = this.#serviceOf(key);
    if (!service) return NO_RULES;
    const reservedRanges = service.spec.externalIPs?.length ? this.#clusterRanges() : [];
    const facts: NodeFacts = { name: node, zone: this.#zone, addresses, reservedRanges };
    const work = serviceRules(service, this.#slices.lister.by(serviceOf, key), facts, this.#turns);
    const rules = inTurns(this.#turns, work);
    if (rules instanceof Promise) return rules.then((ready) => this.#checked(service, ready));
    return this.#checked(service, rules);
  }

  #checked(service: DeepReadonly<Service>, rules: ServiceRules): ServiceRules {
    if (rules.unsupported.length > 0) {
      const ports = rules.unsupported.join(', ');
      const message = `Ports ${ports} are not served: nodes of this cluster forward TCP and UDP only`;
      this.#events.event(service, 'Warning', 'UnsupportedProtocol', message);
    }
    if (rules.reservedAddresses.length > 0) {
      const message = `External IPs ${rules.reservedAddresses.join(', ')} are not served: they are addresses of pods or services`;
      this.#events.event(service, 'Warning', 'ExternalIPReserved', message);
    }
    return rules;
  }

  /** Ranges of cluster IPs, and of the pods of all nodes. */
  #clusterRanges(): readonly string[] {
    if (!this.#reservedRanges) {
      const ofPods = this.#nodes.lister.list().flatMap(({ spec }) => spec.podCIDRs ?? []);
      const known = ofPods.flatMap((range) => canonicalRange(range) ?? []);
      this.#reservedRanges = [...new Set([...this.#serviceRanges(), ...known])];
    }
    return this.#reservedRanges;
  }

  #serviceRanges(): readonly string[] {
    const ranges = this.#ranges.lister.list().flatMap(({ spec }) => spec.cidrs ?? []);
    return [...new Set(ranges.flatMap((range) => canonicalRange(range) ?? []))];
  }
}

/** A slice may move from one service to another. */
function servicesOf(change: Change<EndpointSlice>): readonly string[] {
  return [...serviceOf(change.object), ...(change.type === 'update' ? serviceOf(change.old) : [])];
}
