/** Follows Services, EndpointSlices and Pods, and reports what changes in the zone. */
import { soon } from '../../../base/soon.ts';
import type { InformerFactory } from '../../../client/informer/informer-factory.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { podRecords, serviceRecords } from '../zone/records.ts';
import type { ZoneChange } from '../zone/zone.ts';

/** `isComplete`: nothing else has changed. */
export type ZoneReport = (changes: readonly ZoneChange[], isComplete: boolean) => void;

/** More changes than these are reported over several turns of the event loop. */
const MAX_CHANGES_PER_TURN = 500;

const SERVICE_NAME = 'kubernetes.io/service-name';

/** The service that a slice belongs to. */
const byService = ({ metadata }: DeepReadonly<EndpointSlice>) => {
  const service = metadata.labels?.[SERVICE_NAME];
  return service ? [`${metadata.namespace}/${service}`] : [];
};

export class ZoneFeed {
  readonly #informers: Pick<InformerFactory, 'of'>;
  readonly #domain: string;
  readonly #report: ZoneReport;
  /** Sources whose records may have changed. */
  readonly #dirty = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #isSynced = false;
  readonly #flushSoon = soon(() => this.#flush());

  constructor(informers: Pick<InformerFactory, 'of'>, domain: string, report: ZoneReport) {
    this.#informers = informers;
    this.#domain = domain;
    this.#report = report;
  }

  /** Resolves when all objects are known, and starts to report them. Changes of one turn of the event loop are together. */
  async start(): Promise<void> {
    const [services, slices, pods] = [
      this.#informers.of(Service),
      this.#informers.of(EndpointSlice),
      this.#informers.of(Pod),
    ];
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
    );
    await Promise.all([services.synced, slices.synced, pods.synced]);
    this.#isSynced = true;
    this.#flush();
  }

  /** Reports the whole zone again, for a server that starts with an empty one. */
  repeat(): void {
    if (!this.#isSynced) return;
    for (const { metadata } of this.#informers.of(Service).lister.list()) {
      this.#dirty.add(`service/${metadata.namespace}/${metadata.name}`);
    }
    for (const { metadata } of this.#informers.of(Pod).lister.list()) {
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
    this.#report(changes, this.#dirty.size === 0);
    if (this.#dirty.size > 0) this.#flushSoon();
  }

  #recordsOf(source: string): ZoneChange['records'] {
    const [kind, namespace = '', name = ''] = source.split('/');
    if (kind === 'pod') {
      const pod = this.#informers.of(Pod).lister.get(name, namespace);
      return pod ? podRecords(pod, this.#domain) : [];
    }
    const service = this.#informers.of(Service).lister.get(name, namespace);
    if (!service) return [];
    const isHeadless = service.spec.clusterIP === 'None';
    const slices = isHeadless ? this.#informers.of(EndpointSlice).lister.by(byService, `${namespace}/${name}`) : [];
    return serviceRecords(service, slices, this.#domain);
  }
}

type PodStatus = DeepReadonly<Pod>['status'];

/** Most changes of pods concern neither their addresses nor their phase. */
function isSameAddress(before: PodStatus, after: PodStatus): boolean {
  if (before?.phase !== after?.phase) return false;
  const [old, current] = [before?.podIPs ?? [], after?.podIPs ?? []];
  return old.length === current.length && old.every(({ ip }, index) => ip === current[index]?.ip);
}
