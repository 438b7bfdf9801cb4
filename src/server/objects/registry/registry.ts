/**
 * The kinds that this server stores and serves, built-in or not. Kinds are added and removed while the server runs:
 * code that derives data from them compares `generation`, or subscribes.
 */

import type { Call, RequestNotes } from '../../../api/call.ts';
import type { Kind, Verb, Version } from '../../../kinds/kind.ts';
import type { SubresourceName } from '../../../kinds/subresources.ts';
import type { SubresourceDescriptor, UpdatedPart } from './descriptor.ts';
import { type ServedSubresource, servedSubresources } from './served.ts';

/** A served version of a kind, which a path such as `/apis/apps/v1/…/deployments` names. */
export interface Resource {
  readonly kind: Kind;
  readonly version: Version;
}

/** A resource with its verbs, in the order of discovery. */
export interface ServedResource extends Resource {
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, ServedSubresource>;
}

const ALL_VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

const isServed = ({ served = true }: Version) => served;

export class Registry {
  readonly #kinds = new Set<Kind>();
  readonly #descriptors: ReadonlyMap<string, SubresourceDescriptor>;
  readonly #resources = new Map<string, Map<string, ServedResource>>();
  readonly #listeners = new Set<() => void>();
  /** Incremented with every change: data derived from kinds is up to date while it stays the same. */
  generation = 0;

  /** `subresources` describes every subresource that the kinds may declare. */
  constructor(kinds: Iterable<Kind> = [], subresources: readonly SubresourceDescriptor[] = []) {
    this.#descriptors = new Map(subresources.map((descriptor) => [descriptor.name, descriptor]));
    for (const kind of kinds) this.add(kind);
  }

  add(kind: Kind): void {
    this.#put(kind);
    this.#changed();
  }

  /** Removes and adds kinds as one change. */
  replace(removed: Iterable<Kind>, added: Iterable<Kind>): void {
    for (const kind of removed) this.#take(kind);
    for (const kind of added) this.#put(kind);
    this.#changed();
  }

  remove(kind: Kind): void {
    if (this.#take(kind)) this.#changed();
  }

  #put(kind: Kind): void {
    const served = kind.versions.filter(isServed);
    for (const version of served) {
      if (this.resource(version.apiVersion, kind.plural)) {
        throw new Error(`${kind.plural} of ${version.apiVersion} is served already`);
      }
    }
    const resources = served.map((version) => this.#serve(kind, version));
    this.#kinds.add(kind);
    for (const resource of resources) {
      const { apiVersion } = resource.version;
      const plurals = this.#resources.get(apiVersion) ?? new Map<string, ServedResource>();
      this.#resources.set(apiVersion, plurals.set(kind.plural, resource));
    }
  }

  #take(kind: Kind): boolean {
    if (!this.#kinds.delete(kind)) return false;
    for (const version of kind.versions.filter(isServed)) {
      const plurals = this.#resources.get(version.apiVersion);
      plurals?.delete(kind.plural);
      if (plurals?.size === 0) this.#resources.delete(version.apiVersion);
    }
    return true;
  }

  resource(apiVersion: string, plural: string): ServedResource | undefined {
    return this.#resources.get(apiVersion)?.get(plural);
  }

  /** Reports whether this very resource is still served: another definition of the same name may have replaced it. */
  serves({ kind, version }: Resource): boolean {
    return this.resource(version.apiVersion, kind.plural)?.kind === kind;
  }

  resourcesOf(apiVersion: string): readonly ServedResource[] {
    return [...(this.#resources.get(apiVersion)?.values() ?? [])];
  }

  hasVersion(apiVersion: string): boolean {
    return this.#resources.has(apiVersion);
  }

  get kinds(): Iterable<Kind> {
    return this.#kinds;
  }

  /** The served groups and versions, such as `apps/v1`. */
  get apiVersions(): Iterable<string> {
    return this.#resources.keys();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #serve(kind: Kind, version: Version): ServedResource {
    const verbs = kind.verbs ? [...kind.verbs].sort() : ALL_VERBS;
    const subresources = servedSubresources(this.#descriptors, kind, version);
    return Object.freeze({ kind, version, verbs, subresources });
  }

  #changed(): void {
    this.generation++;
    for (const listener of this.#listeners) listener();
  }
}

/** A call with the resource that it names, and the destination of its warnings and annotations. */
export interface ApiRequest {
  readonly resource: Resource;
  /** The subresource; undefined for requests to the object itself, and for requests by the server itself. */
  readonly subresource?: ServedSubresource | undefined;
  readonly call: Call;
  readonly notes: RequestNotes;
}

/** Returns the part of the object that an update at the path of the request changes. */
export function updatedPart({ subresource }: ApiRequest): UpdatedPart {
  return subresource?.descriptor.updates ?? 'object';
}

/** Returns the subresource of a dispatched call: one that its kind does not declare has been rejected before. */
export function declaredSubresource({ subresource }: Call): SubresourceName | undefined {
  return subresource as SubresourceName | undefined;
}
