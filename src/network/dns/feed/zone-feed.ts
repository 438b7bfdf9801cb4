/** Follows Services, EndpointSlices, Pods and the federations of the cluster, and reports changes of the zone. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { soon } from '../../../base/event-loop/soon.ts';
import type { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import {
  FEDERATIONS,
  type Federation,
  federationRecords,
  localRecords,
  parseFederations,
  placeOf,
} from '../zone/federations.ts';
import { podRecords, serviceRecords } from '../zone/records.ts';
import type { ZoneChange } from '../zone/zone.ts';

/** Receives changes. `isComplete`: nothing else has changed. */
export type ZoneReport = (changes: readonly ZoneChange[], isComplete: boolean) => void;

/** Number of changes above which they are reported over several turns of the event loop. */
const MAX_CHANGES_PER_TURN = 500;

const SERVICE_NAME = 'kubernetes.io/service-name';
/** Source of the records with the targets of names of federations. */
const FEDERATION_SOURCE = 'federations';
/** The ConfigMap that configures the DNS of a cluster. */
export const DNS_CONFIGURATION = {
  namespace: FEDERATIONS.namespace,
  fieldSelector: `metadata.name=${FEDERATIONS.name}`,
};

/** The service that a slice belongs to. */
const byService = ({ metadata }: DeepReadonly<EndpointSlice>) => {
  const service = metadata.labels?.[SERVICE_NAME];
  return service ? [`${metadata.namespace}/${service}`] : [];
};

export class ZoneFeed {
  /** Sources whose records may have changed. */
  readonly #dirty = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #federations: readonly Federation[] = [];
  /** Zone and region of the cluster, for names in the domain of a federation. */
  #place = '';
  #isSynced = false;
  readonly #flushSoon = soon(() => this.#flush());

  constructor(
    private readonly informers: Pick<InformerFactory, 'of'>,
    private readonly domain: string,
    private readonly report: ZoneReport,
  ) {}

  /**
   * Resolves when all objects are known, and starts to report them. Changes of one turn of the event loop are reported
   * together.
   */
  async start(): Promise<void> {
    const [services, slices, pods] = [
      this.informers.of(Service),
      this.informers.of(EndpointSlice),
      this.informers.of(Pod),
    ];
    const [configuration, nodes] = [this.informers.of(ConfigMap, DNS_CONFIGURATION), this.informers.of(Node)];
    this.#stops.push(
      services.onChange(({ object: { metadata } }) => this.#changed(`service/${metadata.namespace}/${metadata.name}`)),
      slices.onChange((change) => {
        for (const key of byService(change.object)) this.#changed(`service/${key}`);
        // The label of a slice can change.
        if (change.type === 'update') for (const key of byService(change.old)) this.#changed(`service/${key}`);
      }),
      pods.onChange((change) => {
        const { metadata, status } = change.object;
        if (change.type === 'update' && isSameAddress(change.old.status, status)) return;
        this.#changed(`pod/${metadata.namespace}/${metadata.name}`);
      }),
      configuration.onChange(({ type, object }) => this.#configure(type === 'delete' ? undefined : object)),
      nodes.onChange((change) => {
        const before = change.type === 'update' ? change.old.metadata.labels : undefined;
        if (JSON.stringify(before) !== JSON.stringify(change.object.metadata.labels)) this.#locate();
      }),
    );
    const all = [services, slices, pods, configuration, nodes];
    await Promise.all(all.map(({ synced }) => synced));
    this.#isSynced = true;
    this.#locate();
    this.#flush();
  }

  #configure(configuration: DeepReadonly<ConfigMap> | undefined): void {
    const next = parseFederations(configuration?.data?.[FEDERATIONS.key]);
    if (JSON.stringify(next) === JSON.stringify(this.#federations)) return;
    this.#federations = next;
    this.#locate();
    this.#changed(FEDERATION_SOURCE);
    for (const { metadata } of this.informers.of(Service).lister.list()) {
      this.#changed(`service/${metadata.namespace}/${metadata.name}`);
    }
  }

  #locate(): void {
    if (this.#federations.length === 0 || !this.#isSynced) return;
    const place = placeOf(this.informers.of(Node).lister.list());
    if (place === this.#place) return;
    this.#place = place;
    this.#changed(FEDERATION_SOURCE);
  }

  /** Reports the whole zone again, for a server that starts with an empty one. */
  repeat(): void {
    if (!this.#isSynced) return;
    this.#dirty.add(FEDERATION_SOURCE);
    for (const { metadata } of this.informers.of(Service).lister.list()) {
      this.#dirty.add(`service/${metadata.namespace}/${metadata.name}`);
    }
    for (const { metadata } of this.informers.of(Pod).lister.list()) {
      this.#dirty.add(`pod/${metadata.namespace}/${metadata.name}`);
    }
    this.#flush();
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #changed(source: string): void {
    this.#dirty.add(source);
    if (this.#isSynced) this.#flushSoon();
  }

  #flush(): void {
    const changes: ZoneChange[] = [];
    for (const source of this.#dirty) {
      if (changes.length >= MAX_CHANGES_PER_TURN) break;
      this.#dirty.delete(source);
      changes.push({ source, records: this.#recordsOf(source) });
    }
    this.report(changes, this.#dirty.size === 0);
    if (this.#dirty.size > 0) this.#flushSoon();
  }

  #recordsOf(source: string): ZoneChange['records'] {
    if (source === FEDERATION_SOURCE) return federationRecords(this.#federations, this.#place, this.domain);
    const [kind, namespace = '', name = ''] = source.split('/');
    if (kind === 'pod') {
      const pod = this.informers.of(Pod).lister.get(name, namespace);
      return pod ? podRecords(pod, this.domain) : [];
    }
    const service = this.informers.of(Service).lister.get(name, namespace);
    if (!service) return [];
    const federations = this.#federations;
    const needsSlices = service.spec.clusterIP === 'None' || federations.length > 0;
    const slices = needsSlices ? this.informers.of(EndpointSlice).lister.by(byService, `${namespace}/${name}`) : [];
    const records = serviceRecords(service, slices, this.domain);
    if (federations.length === 0) return records;
    return [...records, ...localRecords(service, records, { federations, slices, clusterDomain: this.domain })];
  }
}

type PodStatus = DeepReadonly<Pod>['status'];

/** Reports whether address and phase are the same, as in most changes of pods. */
function isSameAddress(before: PodStatus, after: PodStatus): boolean {
  if (before?.phase !== after?.phase) return false;
  const [old, current] = [before?.podIPs ?? [], after?.podIPs ?? []];
  return old.length === current.length && old.every(({ ip }, index) => ip === current[index]?.ip);
}
