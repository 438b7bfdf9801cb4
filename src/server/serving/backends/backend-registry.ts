/** The currently served groups and versions, and their backends. Backends come and go while the server runs. */
import { splitApiVersion } from '../../../kinds/kind.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import type { Backend } from '../backend.ts';
import { KindBackends } from './kind-backends.ts';
import { compareVersions } from './versions.ts';

export class BackendRegistry {
  readonly #kinds: KindBackends;
  /** Backends that do not serve kinds of the registry, by group and version. */
  readonly #others = new Map<string, Backend>();
  readonly #listeners = new Set<() => void>();
  readonly #registry: Registry;
  #changes = 0;

  /** `registry`: the kinds that this server itself stores and serves, built-in or not. */
  constructor(registry: Registry) {
    this.#registry = registry;
    this.#kinds = new KindBackends(registry);
    registry.onChange(() => this.#notify());
  }

  /** Incremented with every change: data derived from backends is up to date while it stays the same. */
  get generation(): number {
    return this.#registry.generation + this.#changes;
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

/** Orders the versions of a group. */
const byPreference = (a: Backend, b: Backend) =>
  b.priority.version - a.priority.version || compareVersions(a.apiVersion, b.apiVersion);
