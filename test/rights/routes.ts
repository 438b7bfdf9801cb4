/** Lists every request that the server answers, made from its served kinds. None of them changes anything. */
import type { Verb } from '../../src/kinds/kind.ts';
import type { Registry, Resource } from '../../src/server/objects/registry/registry.ts';

export interface Route {
  /** The row of the table: `apps/deployments/scale`. */
  readonly row: string;
  readonly verb: Verb;
  readonly method: string;
  readonly path: string;
  /** Namespace of the request, or '' for the whole cluster. */
  readonly namespace: string;
}

const METHODS: Record<Verb, string> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};

/** Returns the routes in each of the namespaces, and for the whole cluster where it can be requested. */
export function routesOf(registry: Registry, namespaces: readonly string[]): Route[] {
  const resources = [...registry.apiVersions].flatMap((apiVersion) => registry.resourcesOf(apiVersion));
  return resources.flatMap((resource) => [
    ...resource.verbs.flatMap((verb) => places(resource, namespaces, verb).map((place) => ({ ...place, verb }))),
    ...[...resource.subresources.values()].flatMap(({ name, verbs }) =>
      verbs.flatMap((verb) =>
        places(resource, namespaces, 'get').map(({ path, row, namespace }) => ({
          ...{ row: `${row}/${name}`, verb, method: METHODS[verb], path: `${path}/${name}`, namespace },
        })),
      ),
    ),
  ]);
}

function places({ kind, version }: Resource, namespaces: readonly string[], verb: Verb): Omit<Route, 'verb'>[] {
  const { group, apiVersion } = version;
  const root = group ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const row = group ? `${group}/${kind.plural}` : kind.plural;
  const isOnOne = verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete';
  const at = (namespace: string, name: string): Omit<Route, 'verb'> => {
    const base = namespace && kind.scope === 'Namespaced' ? `${root}/namespaces/${namespace}` : root;
    const search = verb === 'watch' ? '?watch=true&resourceVersion=none' : '';
    return {
      row,
      method: METHODS[verb],
      path: `${base}/${kind.plural}${isOnOne ? `/${name}` : ''}${search}`,
      namespace,
    };
  };
  if (kind.scope === 'Namespaced') {
    const everywhere = verb === 'list' || verb === 'watch' ? [at('', '')] : [];
    return [...namespaces.map((namespace) => at(namespace, 'missing')), ...everywhere];
  }
  // A namespace is in itself.
  if (kind.plural === 'namespaces' && isOnOne) return namespaces.map((namespace) => at(namespace, namespace));
  return [at('', 'missing')];
}
