/** The currently served groups and versions, and their backends. Backends come and go while the server runs. */

import { createHash } from 'node:crypto';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { type Kind, splitApiVersion } from '../../../kinds/kind.ts';
import type { Registry, ServedResource } from '../../objects/registry/registry.ts';
import type { ServedSubresource } from '../../objects/registry/served.ts';
import type { Backend, DiscoveredResource, DiscoveredSubresource } from '../backend.ts';
import type { KindSchemas } from '../openapi/kind-schemas.ts';
import { priorityOf } from './priorities.ts';

export class BackendRegistry {
  readonly #kinds: KindBackends;
  /** Backends that do not serve kinds of the registry, by group and version. */
  readonly #others = new Map<string, Backend>();
  readonly #listeners = new Set<() => void>();
  #changes = 0;

  /** `registry`: the kinds that this server itself stores and serves, built-in or not. */
  constructor(private readonly registry: Registry) {
    this.#kinds = new KindBackends(registry);
    registry.onChange(() => this.#notify());
  }

  /** Incremented with every change: data derived from backends is up to date while it stays the same. */
  get generation(): number {
    return this.registry.generation + this.#changes;
  }

  /** Adds a backend for a group and version that nothing serves yet. Returns a function that removes it. */
  add(backend: Backend): () => void {
    const { apiVersion } = backend;
    if (this.find(apiVersion)) throw new Error(`${apiVersion} is served already`);
    return this.addInstead(backend);
  }

  /** Adds a backend that replaces kinds of the registry: they are served again when it is removed. */
  addInstead(backend: Backend): () => void {
    const { apiVersion } = backend;
    if (this.#others.has(apiVersion)) throw new Error(`${apiVersion} is served already`);
    this.#others.set(apiVersion, backend);
    this.changed();
    return () => {
      if (this.#others.get(apiVersion) !== backend) return;
      this.#others.delete(apiVersion);
      this.changed();
    };
  }

  find(apiVersion: string): Backend | undefined {
    return this.#others.get(apiVersion) ?? this.#kinds.find(apiVersion);
  }

  /** Returns all backends, in no particular order. */
  all(): readonly Backend[] {
    const kinds = this.#kinds.all().filter(({ apiVersion }) => !this.#others.has(apiVersion));
    return [...kinds, ...this.#others.values()];
  }

  /** Returns the backends that forward requests to other servers; within a group, the preferred version first. */
  proxied(): readonly Backend[] {
    if (this.#others.size === 0) return [];
    const proxied = [...this.#others.values()].filter(({ serving }) => serving.type === 'proxy');
    return proxied.sort(byPreference);
  }

  /** Returns the groups, without the core one, in the order of discovery. */
  groups(): readonly string[] {
    const priorities = new Map<string, number>();
    for (const { apiVersion, priority } of this.all()) {
      const [group] = splitApiVersion(apiVersion);
      if (group) priorities.set(group, Math.max(priorities.get(group) ?? Number.NEGATIVE_INFINITY, priority.group));
    }
    const rows = [...priorities].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
    return rows.map(([group]) => group);
  }

  /** Returns the backends of a group, the preferred version first. The core group has the name ''. */
  ofGroup(group: string): readonly Backend[] {
    return this.all()
      .filter(({ apiVersion }) => splitApiVersion(apiVersion)[0] === group)
      .sort(byPreference);
  }

  hasGroup(group: string): boolean {
    return this.all().some(({ apiVersion }) => splitApiVersion(apiVersion)[0] === group);
  }

  /** Registers a listener that runs after every change. Returns a function that ends the subscription. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Announces that the resources or schemas of a backend have changed. */
  changed(): void {
    this.#changes++;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

const byPreference = (a: Backend, b: Backend) =>
  b.priority.version - a.priority.version || compareVersions(a.apiVersion, b.apiVersion);

/** Orders the versions of a group: stable before beta before alpha, and newest first. */
export function compareVersions(a: string, b: string): number {
  const left = rankOf(splitApiVersion(a)[1]);
  const right = rankOf(splitApiVersion(b)[1]);
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return right[i]! - left[i]!;
  return a < b ? -1 : a > b ? 1 : 0;
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

function rankOf(version: string): [stability: number, major: number, minor: number] {
  const match = VERSION.exec(version);
  if (!match) return [-1, 0, 0];
  const [, major, stage, minor] = match;
  return [stage === 'alpha' ? 0 : stage === 'beta' ? 1 : 2, Number(major), Number(minor ?? 0)];
}

class KindBackends {
  readonly #backends = new Map<string, Backend>();
  #schemas: Promise<KindSchemas> | undefined;

  constructor(private readonly registry: Registry) {}

  find(apiVersion: string): Backend | undefined {
    if (!this.registry.hasVersion(apiVersion)) return undefined;
    return getOrInsert(this.#backends, apiVersion, () => this.#create(apiVersion));
  }

  all(): readonly Backend[] {
    return [...this.registry.apiVersions].map((apiVersion) => this.find(apiVersion)!);
  }

  #create(apiVersion: string): Backend {
    const registry = this.registry;
    return {
      apiVersion,
      priority: priorityOf(apiVersion),
      resources: () => registry.resourcesOf(apiVersion).map(discovered),
      schemas: async () => (await this.#loadSchemas()).of(apiVersion),
      serving: { type: 'objects', resource: (plural) => registry.resource(apiVersion, plural) },
    };
  }

  #loadSchemas(): Promise<KindSchemas> {
    this.#schemas ??= import('../openapi/kind-schemas.ts').then(({ KindSchemas }) => new KindSchemas(this.registry));
    return this.#schemas;
  }
}

function discovered({ kind, version, verbs, subresources }: ServedResource): DiscoveredResource {
  return {
    plural: kind.plural,
    singular: kind.singular,
    kind: kind.kind,
    namespaced: kind.scope === 'Namespaced',
    verbs,
    shortNames: kind.short,
    categories: version.group === kind.hub.group ? kind.categories : [],
    hasMoved: version.deprecated !== undefined && version.group !== kind.hub.group,
    // Kinds that are not stored, such as reviews, cannot be watched. An unusable version is not named, as in
    // Kubernetes.
    storageVersionHash: verbs.includes('watch') && kind.hub.served !== false ? storageVersionHash(kind) : undefined,
    subresources: [...subresources.values()].map((each) => discoveredSubresource(each, version.apiVersion)),
  };
}

function discoveredSubresource({ name, verbs, body }: ServedSubresource, own: string): DiscoveredSubresource {
  return { name, kind: body.kind, apiVersion: body.apiVersion === own ? undefined : body.apiVersion, verbs };
}

const HASH_BYTES = 8;

/** Hashes the stored group, version and kind as Kubernetes does: storage migrators compare it between servers. */
function storageVersionHash({ hub, kind }: Pick<Kind, 'hub' | 'kind'>): string {
  const digest = createHash('sha256').update(`${hub.group}/${hub.version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
