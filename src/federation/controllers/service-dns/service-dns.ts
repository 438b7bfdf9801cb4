/** Publishes the names of federated services of type LoadBalancer, as long as they are healthy somewhere. */

import { isLostRace } from '../../../api/errors.ts';
import type { AnyObject, DeepReadonly } from '../../../api/object-types.ts';
import { whenAborted } from '../../../base/event-loop/when-aborted.ts';
import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import type { EventRecorder } from '../../../client/events/event-recorder.ts';
import type { Informer } from '../../../client/informer/informer.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { DnsProvider } from '../../dns/provider.ts';
import { type FederationDomain, serviceRecords } from '../../dns/service-records.ts';
import type { Member, Members } from '../members.ts';
import type { FederationTools } from '../tools.ts';
import { hostnamesOf, type MemberService, SERVICE_INGRESSES, serviceIngresses, shardOf } from './member-shards.ts';
import { ZonePublisher } from './zone-publisher.ts';

/** Zone in which the names of services are published. */
export interface DnsPublication extends FederationDomain {
  readonly provider: DnsProvider;
  /** The zone that the domain is in: `example.com.` */
  readonly zone: string;
  /** Resolves the addresses of a load balancer that has a name instead. Rejects when there are none. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
}

export interface ServiceDnsOptions extends FederationTools {
  readonly dns: DnsPublication;
  readonly members: Members;
  readonly recorder: EventRecorder;
}

const WORKERS = 4;
/** Delay before a service is checked again while a member has not answered. */
const LOOK_AGAIN_MS = 1_000;
const RESOLVE_PERIOD_MS = 60_000;

export class ServiceDns {
  readonly #loop: ReconcileLoop;
  readonly #services: Informer<Service>;
  readonly #publisher: ZonePublisher;
  readonly #followed = new Set<Member>();
  /** Members whose services and endpoints are known. */
  readonly #synced = new Set<Member>();

  constructor(private readonly options: ServiceDnsOptions) {
    const { clock, random, informers, dns, log, signal, recorder } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      workers: WORKERS,
      backoff: { base: 50, max: 30_000 },
      failure: 'the names of a service could not be decided',
      isExpected: isLostRace,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#services = informers.of<Service>(Service);
    this.#publisher = new ZonePublisher({
      provider: dns.provider,
      zone: dns.zone,
      names: dns,
      clock,
      random,
      log,
      signal,
      exists: (key) => this.#serviceOf(key) !== undefined,
      failed: (key, message) => {
        const service = this.#serviceOf(key);
        if (service) recorder.event(service, 'Warning', 'DNSFailed', message);
      },
    });
  }

  /** Runs until the signal is aborted. */
  async run(): Promise<void> {
    const { members, signal } = this.options;
    this.#services.onChange(({ object }) => this.#loop.add(keyOf(object)));
    members.onChange((member) => {
      this.#follow(member);
      this.#everything();
    });
    await Promise.all([this.#loop.run(signal), this.#publishWhenKnown()]);
  }

  /** Publishes once the services are known: otherwise all records would seem to be left over. */
  async #publishWhenKnown(): Promise<void> {
    await Promise.race([this.#services.synced, whenAborted(this.options.signal)]);
    await this.#publisher.run();
  }

  #everything(): void {
    for (const service of this.#services.lister.list()) this.#loop.add(keyOf(service));
  }

  #follow(member: Member): void {
    if (member.isStopped) {
      this.#followed.delete(member);
      this.#synced.delete(member);
      return;
    }
    const informers = [member.informer(Service), member.informer(Endpoints)];
    if (this.#followed.has(member) || informers.some((informer) => !informer)) return;
    this.#followed.add(member);
    for (const informer of informers) {
      informer!.onChange(({ object }) => {
        const key = keyOf(object);
        if (this.#serviceOf(key)) this.#loop.add(key);
      });
    }
    void Promise.all(informers.map((informer) => informer!.synced)).then(() => {
      this.#synced.add(member);
      this.#everything();
    });
  }

  async #reconcile(key: string): Promise<void> {
    const service = this.#serviceOf(key);
    if (!service || service.metadata.deletionTimestamp || service.spec.type !== 'LoadBalancer') {
      this.#publisher.set(key, []);
      if (service && !service.metadata.deletionTimestamp) await this.#annotate(service, undefined);
    } else await this.#publish(key, service);
  }

  async #publish(key: string, service: DeepReadonly<Service>): Promise<void> {
    const { dns, members } = this.options;
    const { name = '', namespace = '' } = service.metadata;
    const shown = members.all.map((member) => this.#memberService(member, name, namespace));
    if (shown.some(({ health }) => health === 'away' || health === 'unknown')) {
      this.#loop.addAfter(key, LOOK_AGAIN_MS);
    }
    // Until every member has answered or is down, nothing is known to be gone.
    if (shown.some(({ health }) => health === 'unknown')) return;
    const resolved = await this.#resolve(service, shown.flatMap(hostnamesOf));
    if (resolved.size > 0) this.#loop.addAfter(key, RESOLVE_PERIOD_MS);
    const shards = shown.map((member) => shardOf(member, resolved));
    this.#publisher.set(key, serviceRecords({ ...dns, service: name, namespace }, shards));
    await this.#annotate(service, serviceIngresses(shown));
  }

  #memberService(member: Member, name: string, namespace: string): MemberService {
    const find = (kind: typeof Service | typeof Endpoints) =>
      member.informer(kind)?.lister.get(name, namespace) as AnyObject;
    const { cluster, health } = member;
    return {
      cluster,
      health: health === 'ready' && !this.#synced.has(member) ? 'unknown' : health,
      service: find(Service) as DeepReadonly<Service> | undefined,
      endpoints: find(Endpoints) as DeepReadonly<Endpoints> | undefined,
    };
  }

  /** A name that cannot be looked up has no addresses, and is looked up again later. */
  async #resolve(
    service: DeepReadonly<Service>,
    hostnames: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const { dns, recorder } = this.options;
    const found = await Promise.all(
      [...new Set(hostnames)].map(async (hostname) => {
        const addresses = await dns.resolve(hostname).catch((error: Error) => {
          recorder.event(service, 'Warning', 'HostnameNotResolved', `load balancer ${hostname}: ${error.message}`);
          return [];
        });
        return [hostname, addresses] as const;
      }),
    );
    return new Map(found);
  }

  async #annotate(service: DeepReadonly<Service>, value: string | undefined): Promise<void> {
    const { name = '', namespace, annotations } = service.metadata;
    if (annotations?.[SERVICE_INGRESSES] === value) return;
    const { client, signal } = this.options;
    const changes = { metadata: { annotations: { [SERVICE_INGRESSES]: value ?? null } } };
    await client.of(Service).in(namespace).patch(name, { type: 'merge', changes }, { signal });
  }

  #serviceOf(key: string): DeepReadonly<Service> | undefined {
    const [name = '', namespace] = key.split('/').reverse();
    return this.#services.lister.get(name, namespace);
  }
}
