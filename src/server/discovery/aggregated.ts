/** Discovery in one document: every group with its versions, resources and subresources. */
import { splitApiVersion } from '../../kinds/kind.ts';
import type { Registry, Resource } from '../registry.ts';
import { subresourcesOf, verbsOf } from './subresources.ts';

/** The forms that a client can ask `/api` and `/apis` for. They differ in name only. */
export const aggregatedForms = ['v2', 'v2beta1'].map((version) =>
  Object.freeze({ kind: 'APIGroupDiscoveryList', group: 'apidiscovery.k8s.io', version }),
);

/** `groups` in the order in which they are shown, each with its versions, such as `apps/v1`, in theirs. */
export function aggregatedDocument(
  registry: Registry,
  version: string,
  groups: readonly { name: string; versions: readonly string[] }[],
): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name ? { name } : {},
      versions: versions.map((apiVersion) => ({
        version: splitApiVersion(apiVersion)[1],
        resources: [...registry.resourcesOf(apiVersion)].sort(byPlural).map(resourceRow),
        freshness: 'Current',
      })),
    })),
  };
}

function byPlural(a: Resource, b: Resource): number {
  return a.kind.plural < b.kind.plural ? -1 : 1;
}

function resourceRow(resource: Resource): object {
  const { kind, version } = resource;
  const subresources = [...subresourcesOf(resource).values()].map((sub) => ({
    subresource: sub.name,
    responseKind: typeOf(sub.apiVersion ?? version.apiVersion, sub.kind),
    verbs: sub.verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: typeOf(version.apiVersion, kind.kind),
    scope: kind.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(resource),
    ...(kind.short.length > 0 && !hasMoved(resource) ? { shortNames: kind.short } : {}),
    ...(kind.categories.length > 0 && !hasMoved(resource) ? { categories: kind.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/**
 * Whether the group is one that the kind has left. Clients that ask for this document would warn of a short name that
 * stands twice, and list what is in a category a second time; those of the old group's own days ask for the other one.
 */
function hasMoved({ kind, version }: Resource): boolean {
  return version.deprecated !== undefined && version.group !== kind.hub.group;
}

function typeOf(apiVersion: string, kind: string): object {
  const [group, version] = splitApiVersion(apiVersion);
  return { group, version, kind };
}
