import { Histogram } from '../../../base/metrics/histogram.ts';
import { head, labelsOf } from '../../../base/metrics/text.ts';
import type { Verb } from '../../../kinds/kind.ts';
import type { Registry, Resource } from '../../objects/registry/registry.ts';

/** The labels by which a request is counted. Routes have this shape. */
export interface CountedRequest {
  readonly resource: Resource;
  readonly subresource: { readonly name: string } | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const METHODS: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};

/** Bounds of the buckets in seconds, as dashboards expect them. */
export const BUCKETS_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

const REQUESTS = 'apiserver_request_total';
const DURATIONS = 'apiserver_request_duration_seconds';
const IN_FLIGHT = 'apiserver_current_inflight_requests';
const LONG_RUNNING = 'apiserver_longrunning_requests';
const WATCHERS = 'apiserver_registered_watchers';

const SCOPES = ['cluster', 'namespace', 'resource'] as const;
const VERBS = Object.keys(METHODS) as Verb[];

/** Metrics of one verb on one resource. */
class Series {
  readonly codes = new Map<number, number>();
  readonly durations = new Histogram(BUCKETS_SECONDS);
  running = 0;

  constructor(
    readonly verb: Verb,
    readonly labels: Readonly<Record<string, string>>,
  ) {}
}

/** Counts requests. Allocates nothing for a request like an earlier one. */
export class RequestMetrics {
  /** Series by resource, by subresource, and by scope with verb. */
  readonly #series = new Map<Resource, Map<string, (Series | undefined)[]>>();
  #registry: Registry | undefined;
  #mutating = 0;
  #reading = 0;

  /** Sets the registry whose resources are counted: series of a resource that it no longer serves are dropped. */
  follow(registry: Registry): void {
    this.#registry = registry;
  }

  /** Counts the start of a request. The result must be passed to `ended`. */
  began(verb: Verb, counted: CountedRequest): Series {
    const series = this.#find(verb, counted);
    series.running++;
    if (isMutating(verb)) this.#mutating++;
    else if (verb !== 'watch') this.#reading++;
    return series;
  }

  ended(series: Series, code: number, seconds: number): void {
    series.running--;
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
    series.durations.observe(seconds);
    if (isMutating(series.verb)) this.#mutating--;
    else if (series.verb !== 'watch') this.#reading--;
  }

  *lines(): Generator<string> {
    this.#dropUnserved();
    const all = [...this.#all()];
    yield head(REQUESTS, 'counter', 'Number of requests by verb, resource, scope and response code.');
    for (const { codes, labels } of all) {
      for (const [code, count] of codes) yield `${REQUESTS}{${labelsOf({ code, ...labels })}} ${count}`;
    }
    yield head(DURATIONS, 'histogram', 'Time from receiving a request to its response, in seconds.');
    for (const { durations, labels } of all) {
      if (labels.verb !== 'WATCH') yield* durations.lines(DURATIONS, labelsOf(labels));
    }
    yield head(IN_FLIGHT, 'gauge', 'Number of requests in flight, without long-running ones.');
    yield `${IN_FLIGHT}{request_kind="mutating"} ${this.#mutating}`;
    yield `${IN_FLIGHT}{request_kind="readOnly"} ${this.#reading}`;
    const watches = all.filter(({ labels }) => labels.verb === 'WATCH');
    yield head(LONG_RUNNING, 'gauge', 'Number of active long-running requests (watches).');
    for (const { labels, running } of watches) yield `${LONG_RUNNING}{${labelsOf(labels)}} ${running}`;
    yield head(WATCHERS, 'gauge', 'Number of open watches by kind.');
    yield* this.#watchers();
  }

  *#watchers(): Generator<string> {
    for (const [{ kind, version }, parts] of this.#series) {
      const watches = (parts.get('') ?? []).filter((series) => series?.labels.verb === 'WATCH');
      if (watches.length === 0) continue;
      const count = watches.reduce((sum, series) => sum + (series?.running ?? 0), 0);
      yield `${WATCHERS}{${labelsOf({ group: version.group, version: version.version, kind: kind.kind })}} ${count}`;
    }
  }

  *#all(): Generator<Series> {
    for (const parts of this.#series.values()) {
      for (const list of parts.values()) for (const series of list) if (series) yield series;
    }
  }

  /** Drops series of removed resources: two series with the same labels would make the whole text invalid. */
  #dropUnserved(): void {
    const registry = this.#registry;
    if (!registry) return;
    // A request that was routed before its kind was removed may be counted afterwards.
    for (const resource of [...this.#series.keys()]) if (!registry.serves(resource)) this.#series.delete(resource);
  }

  #find(verb: Verb, counted: CountedRequest): Series {
    const { resource } = counted;
    const subresource = counted.subresource?.name ?? '';
    const scope = scopeOf(verb, counted);
    const at = SCOPES.indexOf(scope) * VERBS.length + VERBS.indexOf(verb);
    const known = this.#series.get(resource)?.get(subresource)?.[at];
    if (known) return known;
    this.#dropUnserved();
    const series = new Series(verb, {
      component: 'apiserver',
      dry_run: '',
      group: resource.version.group,
      resource: resource.kind.plural,
      scope,
      subresource,
      verb: METHODS[verb],
      version: resource.version.version,
    });
    const parts = this.#series.get(resource) ?? new Map<string, (Series | undefined)[]>();
    const list = parts.get(subresource) ?? [];
    list[at] = series;
    this.#series.set(resource, parts.set(subresource, list));
    return series;
  }
}

export type { Series };

function scopeOf(verb: Verb, { namespace, name }: CountedRequest): (typeof SCOPES)[number] {
  if (name !== undefined || verb === 'create') return 'resource';
  return namespace === undefined ? 'cluster' : 'namespace';
}

function isMutating(verb: Verb): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch';
}
