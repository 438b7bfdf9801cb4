/** Keeps the rules of a node up to date with the API. */
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { soon } from '../../base/soon.ts';
import type { Client } from '../../client/client.ts';
import { createEventRecorder, type EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import { type Change, keyOf } from '../../client/informer/object-cache.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { ServiceCIDR } from '../../kinds/groups/networking/service-cidr.ts';
import { canonicalRange } from '../rules/addresses.ts';
import type { RuleApplier } from '../rules/applier.ts';
import { NO_RULES, type NodeFacts, type ServiceRules } from '../rules/rule-set.ts';
import { serviceRules } from '../rules/service-rules.ts';
import { HealthChecks } from './health-checks.ts';

export interface ServiceProxyOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The name of the node. */
  readonly node: string;
  readonly addresses: readonly string[];
  readonly applier: RuleApplier;
  /** Limits the duration of watches, in seconds. */
  readonly watchSeconds?: number;
}

const RETRY_MS = 1_000;
const SERVICE_NAME = 'kubernetes.io/service-name';
const ZONE = 'topology.kubernetes.io/zone';

type Slice = DeepReadonly<EndpointSlice>;

/** The service that a slice belongs to, as `namespace/name`. */
function serviceOf({ metadata }: Slice): readonly string[] {
  const name = metadata.labels?.[SERVICE_NAME];
  return name ? [`${metadata.namespace}/${name}`] : [];
}

export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #stop = new AbortController();
  readonly #informers: InformerFactory;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #ranges: Informer<ServiceCIDR>;
  readonly #nodes: Informer<Node>;
  readonly #events: EventRecorder;
  readonly #healthChecks: HealthChecks;
  /** Services whose rules may have changed. */
  #dirty = new Set<string>();
  #isEverythingDirty = true;
  #zone: string | undefined;
  #running: Promise<void> | undefined;
  readonly #wake = soon(() => this.#run());
  #markApplied = () => {};

  /** Resolves when all services that existed at the start are served. Stays pending when it is stopped before. */
  readonly applied = new Promise<void>((resolve) => {
    this.#markApplied = resolve;
  });

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    const { client, clock, random, log, watchSeconds } = options;
    const { signal } = this.#stop;
    const common = { client, clock, random, log, signal };
    this.#informers = new InformerFactory({ ...common, ...(watchSeconds ? { watchSeconds } : {}) });
    this.#events = createEventRecorder({ ...common, component: 'service-proxy', host: options.node });
    this.#healthChecks = new HealthChecks(log);
    this.#services = this.#informers.of(Service);
    this.#slices = this.#informers.of(EndpointSlice);
    this.#ranges = this.#informers.of(ServiceCIDR);
    this.#nodes = this.#informers.of(Node, { fieldSelector: `metadata.name=${options.node}` });
    this.#services.onChange(({ object }) => this.#changed([keyOf(object)]));
    this.#slices.onChange((change) => this.#changed(servicesOf(change)));
    this.#ranges.onChange(() => this.#changed([]));
    this.#nodes.onChange(({ object }) => this.#nodeChanged(object.metadata.labels?.[ZONE]));
    const all = [this.#services, this.#slices, this.#ranges, this.#nodes];
    void Promise.all(all.map(({ synced }) => synced)).then(() => {
      this.#isEverythingDirty = true;
      this.#isSynced = true;
      this.#wake();
    });
  }

  #isSynced = false;

  /** Stops following the API. What is applied stays, and the applier remains open. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the service proxy stops'));
    await this.#running;
    await this.#informers.stopped();
    await this.#healthChecks.close();
  }

  #changed(services: readonly string[]): void {
    for (const key of services) this.#dirty.add(key);
    if (this.#isSynced) this.#wake();
  }

  #nodeChanged(zone: string | undefined): void {
    if (zone === this.#zone) return;
    this.#zone = zone;
    this.#isEverythingDirty = true;
    if (this.#isSynced) this.#wake();
  }

  #run(): void {
    if (this.#running || this.#stop.signal.aborted) return;
    this.#running = this.#applyAll().finally(() => {
      this.#running = undefined;
    });
  }

  /** Applies until nothing has changed in the meantime. */
  async #applyAll(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    for (let isFirst = true; isFirst || this.#isDirty; isFirst = false) {
      if (signal.aborted) return;
      try {
        await this.#apply();
        this.#markApplied();
      } catch (error) {
        log.error('the rules of services could not be applied', { error: String(error) });
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
        this.#isEverythingDirty = true;
      }
    }
  }

  get #isDirty(): boolean {
    return this.#isEverythingDirty || this.#dirty.size > 0;
  }

  async #apply(): Promise<void> {
    const { applier } = this.#options;
    const keys = this.#isEverythingDirty ? this.#allKeys() : this.#dirty;
    this.#dirty = new Set();
    this.#isEverythingDirty = false;
    const services = new Map([...keys].map((key) => [key, this.#rulesOf(key)]));
    await applier.apply({ services, serviceRanges: this.#serviceRanges() });
    for (const [key, { healthCheck }] of services) await this.#healthChecks.set(key, healthCheck);
  }

  /** Those that are gone are in the set of changes. */
  #allKeys(): Iterable<string> {
    return new Set([...this.#services.lister.list().map(keyOf), ...this.#dirty]);
  }

  #rulesOf(key: string): ServiceRules {
    const { node, addresses } = this.#options;
    const [namespace, name = ''] = key.split('/');
    const service = this.#services.lister.get(name, namespace);
    if (!service) return NO_RULES;
    const facts: NodeFacts = { name: node, zone: this.#zone, addresses };
    const rules = serviceRules(service, this.#slices.lister.by(serviceOf, key), facts);
    if (rules.unsupported.length > 0) {
      const ports = rules.unsupported.join(', ');
      const message = `Ports ${ports} are not served: nodes of this cluster forward TCP and UDP only`;
      this.#events.event(service, 'Warning', 'UnsupportedProtocol', message);
    }
    return rules;
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
