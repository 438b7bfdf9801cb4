/** Which groups and versions are served, now, and by what. Backends come and go while the server runs. */
import { splitApiVersion } from '../../../kinds/kind.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import type { Backend } from '../backend.ts';
import { KindBackends } from './kind-backends.ts';
import { compareVersions } from './versions.ts';

export class BackendRegistry {
  readonly #kinds: KindBackends;
  /** Those that do not serve kinds of the registry, by group and version. */
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

  /** Grows with every change: what was derived from backends is up to date while it is the same. */
  get generation(): number {
    return this.#registry.generation + this.#changes;
  }

  /** Adds a backend for a group and version that nothing serves yet. Returns a function that removes it. */
  add(backend: Backend): () => void {
    const { apiVersion } = backend;
    if (this.find(apiVersion)) throw new Error(`${apiVersion} is served already`);
    return this.addInstead(backend);
  }

  /** The same for a backend that takes the place of kinds of the registry: they are served again when it is removed. */
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

  /** All of them, in no particular order. */
  all(): readonly Backend[] {
    const kinds = this.#kinds.all().filter(({ apiVersion }) => !this.#others.has(apiVersion));
    return [...kinds, ...this.#others.values()];
  }

  /** Those that pass requests on to other servers; of each group, the preferred version first. */
  proxied(): readonly Backend[] {
    if (this.#others.size === 0) return [];
    const proxied = [...this.#others.values()].filter(({ serving }) => serving.type === 'proxy');
    return proxied.sort(byPreference);
  }

  /** The groups, without the core one, in the order in which discovery lists them. */
  groups(): readonly string[] {
    const priorities = new Map<string, number>();
    for (const { apiVersion, priority } of this.all()) {
      const [group] = splitApiVersion(apiVersion);
      if (group) priorities.set(group, Math.max(priorities.get(group) ?? Number.NEGATIVE_INFINITY, priority.group));
    }
    const rows = [...priorities].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
    return rows.map(([group]) => group);
  }

  /** The backends of a group, the preferred version first. The core group has the name ''. */
  ofGroup(group: string): readonly Backend[] {
    return this.all()
      .filter(({ apiVersion }) => splitApiVersion(apiVersion)[0] === group)
      .sort(byPreference);
  }

  hasGroup(group: string): boolean {
    return this.all().some(({ apiVersion }) => splitApiVersion(apiVersion)[0] === group);
  }

  /** Runs after every change. Returns a function that ends the subscription. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes known that the resources or schemas of a backend are others than before. */
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
