/** Resources of aggregated APIs as kinds, for controllers that work on every served kind. */
import type { KindRef } from '../../api/object-types.ts';
import type { ResourceTarget } from '../../client/resource.ts';
import { type Kind, splitApiVersion, type Verb } from '../../kinds/kind.ts';

/** A group and version that another server serves. */
export interface AggregatedApi {
  readonly apiVersion: string;
  /** True when `resources` may be out of date because the other server cannot be reached, or has not been yet. */
  readonly isStale?: boolean;
  resources(): readonly AggregatedResource[];
}

interface AggregatedResource extends Omit<ResourceTarget, 'apiVersion'> {
  readonly verbs: readonly string[];
}

export interface KindsOptions {
  /** The kinds that are currently served; they change at run time. */
  readonly kinds: () => Iterable<Kind>;
}

export interface AggregatedOptions {
  /** The aggregated APIs; of each group, the preferred version first. They change at run time. */
  readonly aggregated: () => readonly AggregatedApi[];
}

/** A resource that is known by discovery alone. */
export interface AggregatedKind extends KindRef {
  readonly isAggregated: true;
  readonly verbs: readonly string[];
  readonly versions: readonly { readonly apiVersion: string; readonly group: string }[];
}

export interface AggregatedVersion extends Required<Pick<AggregatedApi, 'apiVersion' | 'isStale'>> {
  readonly kinds: readonly AggregatedKind[];
}

/** Kind that is served here or by another server, as controllers know it. */
export type ServedKind = (Kind & { readonly isAggregated?: never }) | AggregatedKind;

/** Reports whether objects of the kind support all these verbs. */
export function hasVerbs({ verbs }: ServedKind, ...wanted: readonly Verb[]): boolean {
  return !verbs || wanted.every((verb) => (verbs as readonly string[]).includes(verb));
}

/** Resources of aggregated APIs. A resource is the same value as long as nothing about it changes. */
export class AggregatedKinds {
  readonly #apis: AggregatedOptions['aggregated'];
  /** Resources in all versions. */
  #known: ReadonlyMap<string, AggregatedKind> = new Map();

  constructor({ aggregated }: AggregatedOptions) {
    this.#apis = aggregated;
  }

  /** Returns every resource once, in the preferred version of those that have it: several show the same objects. */
  all(): readonly AggregatedKind[] {
    const preferred = new Map<string, AggregatedKind>();
    for (const kind of this.ofVersions().flatMap(({ kinds }) => kinds)) {
      const name = `${kind.group}/${kind.plural}`;
      if (!preferred.has(name)) preferred.set(name, kind);
    }
    return [...preferred.values()];
  }

  /** The resources of every group and version. */
  ofVersions(): readonly AggregatedVersion[] {
    const known = new Map<string, AggregatedKind>();
    const versions = this.#apis().map((api) => {
      const { apiVersion, isStale = false } = api;
      const kinds = api.resources().map((resource) => {
        const { plural, kind, namespaced, verbs } = resource;
        const key = JSON.stringify([apiVersion, plural, kind, namespaced, verbs]);
        const value = this.#known.get(key) ?? kindOf(apiVersion, resource);
        known.set(key, value);
        return value;
      });
      return { apiVersion, isStale, kinds };
    });
    this.#known = known;
    return versions;
  }

  /** The groups and versions whose resources are not known for certain. */
  stale(): readonly string[] {
    return this.#apis()
      .filter(({ isStale }) => isStale)
      .map(({ apiVersion }) => apiVersion);
  }
}

function kindOf(apiVersion: string, { plural, kind, namespaced, verbs }: AggregatedResource): AggregatedKind {
  const [group] = splitApiVersion(apiVersion);
  return {
    isAggregated: true,
    group,
    kind,
    plural,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    verbs,
    hub: { apiVersion },
    versions: [{ apiVersion, group }],
  };
}
