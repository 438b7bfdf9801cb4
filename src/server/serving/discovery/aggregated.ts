/** Aggregated discovery: all groups with their versions, resources and subresources in one document. */

import { splitApiVersion } from '../../../kinds/kind.ts';
import type { Backend, DiscoveredResource } from '../backend.ts';

/** The versions of the format in which clients can request `/api` and `/apis`. They differ in name only. */
export const aggregatedForms = ['v2', 'v2beta1'].map((version) =>
  Object.freeze({ kind: 'APIGroupDiscoveryList', group: 'apidiscovery.k8s.io', version }),
);

interface Group {
  readonly name: string;
  /** Backends, the preferred version first. */
  readonly backends: readonly Backend[];
}

export function aggregatedDocument(version: string, groups: readonly Group[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, backends }) => ({
      metadata: name ? { name } : {},
      versions: backends.map((backend) => ({
        version: splitApiVersion(backend.apiVersion)[1],
        resources: [...backend.resources()].sort(byPlural).map((resource) => rowOf(resource, backend.apiVersion)),
        freshness: backend.isStale ? 'Stale' : 'Current',
      })),
    })),
  };
}

function byPlural(a: DiscoveredResource, b: DiscoveredResource): number {
  return a.plural < b.plural ? -1 : 1;
}

function rowOf(resource: DiscoveredResource, apiVersion: string): object {
  const { shortNames, categories, hasMoved } = resource;
  const subresources = resource.subresources.map((each) => ({
    subresource: each.name,
    responseKind: typeOf(each.apiVersion ?? apiVersion, each.kind),
    verbs: each.verbs,
  }));
  return {
    resource: resource.plural,
    responseKind: typeOf(apiVersion, resource.kind),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    shortNames: shortNames.length > 0 && !hasMoved ? shortNames : undefined,
    categories: categories.length > 0 ? categories : undefined,
    subresources: subresources.length > 0 ? subresources : undefined,
  };
}

function typeOf(apiVersion: string, kind: string): object {
  const [group, version] = splitApiVersion(apiVersion);
  return { group, version, kind };
}
