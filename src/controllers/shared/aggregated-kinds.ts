/** The resources of aggregated APIs as kinds, for controllers that work on whatever is served. */
import type { KindRef } from '../../client/object-types.ts';
import { type Kind, splitApiVersion, type Verb } from '../../kinds/kind.ts';

/** A group and version that another server serves. */
export interface AggregatedApi {
  readonly apiVersion: string;
  /** Whether `resources` may be out of date: the other server cannot be reached, or has not been yet. */
  readonly isStale?: boolean;
  resources(): readonly AggregatedResource[];
}

interface AggregatedResource {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
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

/** What controllers know of anything that is served, here or elsewhere. */
export type ServedKind = Kind | AggregatedKind;

/** Whether objects of the kind can be used in all of these ways. */
export function hasVerbs({ verbs }: ServedKind, ...wanted: readonly Verb[]): boolean {
  return !verbs || wanted.every((verb) => (verbs as readonly string[]).includes(verb));
}

/** The same resource is the same value as long as nothing about it changes. */
export class AggregatedKinds {
  readonly #apis: AggregatedOptions['aggregated'];
  #known: ReadonlyMap<string, AggregatedKind> = new Map();

  constructor({ aggregated }: AggregatedOptions) {
    this.#apis = aggregated;
  }

  /** Every resource once, in the preferred version of those that have it: several show the same objects. */
  all(): readonly AggregatedKind[] {
    const known = new Map<string, AggregatedKind>();
    const names = new Set<string>();
    for (const api of this.#apis()) {
      const { apiVersion } = api;
      const group = groupOf(apiVersion);
      for (const resource of api.resources()) {
        const name = `${group}/${resource.plural}`;
        if (names.has(name)) continue;
        names.add(name);
        const key = JSON.stringify([apiVersion, resource.plural, resource.kind, resource.namespaced, resource.verbs]);
        known.set(key, this.#known.get(key) ?? kindOf(apiVersion, resource));
      }
    }
    this.#known = known;
    return [...known.values()];
  }

  /** The groups and versions whose resources are not known for certain. */
  stale(): readonly string[] {
    return this.#apis()
      .filter(({ isStale }) => isStale)
      .map(({ apiVersion }) => apiVersion);
  }
}

function kindOf(apiVersion: string, { plural, kind, namespaced, verbs }: AggregatedResource): AggregatedKind {
  const group = groupOf(apiVersion);
  return {
    ...{ isAggregated: true, group, kind, plural, scope: namespaced ? 'Namespaced' : 'Cluster', verbs },
    ...{ hub: { apiVersion }, versions: [{ apiVersion, group }] },
  };
}

const groupOf = (apiVersion: string) => splitApiVersion(apiVersion)[0];
