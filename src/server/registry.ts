/**
 * Which kinds are served, now. Kinds come and go while the server runs; whoever derives something from them (routes,
 * discovery, schemas) asks again or subscribes.
 */
import type { Kind, Version } from '../kinds/kind.ts';

/** One served version of a kind: what a path such as `/apis/apps/v1/…/deployments` names. */
export interface Resource {
  readonly kind: Kind;
  readonly version: Version;
}

export class Registry {
  readonly #kinds = new Set<Kind>();
  readonly #resources = new Map<string, Map<string, Resource>>();
  readonly #listeners = new Set<() => void>();
  /** Grows with every change: caches of derived things compare it. */
  generation = 0;

  constructor(kinds: Iterable<Kind> = []) {
    for (const kind of kinds) this.add(kind);
  }

  add(kind: Kind): void {
    for (const version of kind.versions) {
      if (this.resource(version.apiVersion, kind.plural)) {
        throw new Error(`${kind.plural} of ${version.apiVersion} is served already`);
      }
    }
    this.#kinds.add(kind);
    for (const version of kind.versions) {
      const plurals = this.#resources.get(version.apiVersion) ?? new Map<string, Resource>();
      this.#resources.set(version.apiVersion, plurals);
      plurals.set(kind.plural, Object.freeze({ kind, version }));
    }
    this.#changed();
  }

  remove(kind: Kind): void {
    if (!this.#kinds.delete(kind)) return;
    for (const version of kind.versions) {
      const plurals = this.#resources.get(version.apiVersion);
      plurals?.delete(kind.plural);
      if (plurals?.size === 0) this.#resources.delete(version.apiVersion);
    }
    this.#changed();
  }

  resource(apiVersion: string, plural: string): Resource | undefined {
    return this.#resources.get(apiVersion)?.get(plural);
  }

  /** Whether this very resource is still served: another definition may have taken its place, under the same name. */
  serves({ kind, version }: Resource): boolean {
    return this.resource(version.apiVersion, kind.plural)?.kind === kind;
  }

  /** Every served version of every kind of one group and version. */
  resourcesOf(apiVersion: string): readonly Resource[] {
    return [...(this.#resources.get(apiVersion)?.values() ?? [])];
  }

  /** Whether any kind is served in this group and version. */
  hasVersion(apiVersion: string): boolean {
    return this.#resources.has(apiVersion);
  }

  get kinds(): Iterable<Kind> {
    return this.#kinds;
  }

  /** Served `group/version` strings. */
  get apiVersions(): Iterable<string> {
    return this.#resources.keys();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.generation++;
    for (const listener of this.#listeners) listener();
  }
}
