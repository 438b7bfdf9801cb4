/** The backends of the kinds that this server stores and serves itself: one for each group and version that they have. */
import { splitApiVersion } from '../../kinds/kind.ts';
import type { KindSchemas } from '../openapi/kind-schemas.ts';
import type { Registry, ServedResource } from '../registry.ts';
import type { ServedSubresource } from '../subresources/served.ts';
import type { Backend, BackendPriority, DiscoveredResource, DiscoveredSubresource } from './backend.ts';

/** Kinds stand in this group that have moved to others. Clients take the first group that lists a resource: never this. */
const LAST_GROUP = 'extensions';

const GROUP_PRIORITIES = { builtIn: 17_000, custom: 1000, last: 0 } as const;

/** All versions alike, so that stable ones come first, and newer ones before older. */
const VERSION_PRIORITY = 15;

export class KindBackends {
  readonly #registry: Registry;
  readonly #backends = new Map<string, Backend>();
  #schemas: Promise<KindSchemas> | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  find(apiVersion: string): Backend | undefined {
    if (!this.#registry.hasVersion(apiVersion)) return undefined;
    let backend = this.#backends.get(apiVersion);
    if (!backend) {
      backend = this.#create(apiVersion);
      this.#backends.set(apiVersion, backend);
    }
    return backend;
  }

  all(): readonly Backend[] {
    return [...this.#registry.apiVersions].map((apiVersion) => this.find(apiVersion)!);
  }

  #create(apiVersion: string): Backend {
    const registry = this.#registry;
    return {
      apiVersion,
      priority: priorityOf(splitApiVersion(apiVersion)[0]),
      resources: () => registry.resourcesOf(apiVersion).map(discovered),
      schemas: async () => (await this.#loadSchemas()).of(apiVersion),
      serving: { type: 'objects', resource: (plural) => registry.resource(apiVersion, plural) },
    };
  }

  #loadSchemas(): Promise<KindSchemas> {
    this.#schemas ??= import('../openapi/kind-schemas.ts').then(({ KindSchemas }) => new KindSchemas(this.#registry));
    return this.#schemas;
  }
}

function priorityOf(group: string): BackendPriority {
  const isCustom = group.includes('.') && !group.endsWith('.k8s.io');
  const { builtIn, custom, last } = GROUP_PRIORITIES;
  return { group: group === LAST_GROUP ? last : isCustom ? custom : builtIn, version: VERSION_PRIORITY };
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
    subresources: [...subresources.values()].map((each) => discoveredSubresource(each, version.apiVersion)),
  };
}

function discoveredSubresource({ name, verbs, body }: ServedSubresource, own: string): DiscoveredSubresource {
  return { name, kind: body.kind, apiVersion: body.apiVersion === own ? undefined : body.apiVersion, verbs };
}
