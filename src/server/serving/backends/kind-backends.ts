/** The backends of the kinds that this server stores and serves itself, one for each group and version. */

import { createHash } from 'node:crypto';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Registry, ServedResource } from '../../objects/registry/registry.ts';
import type { ServedSubresource } from '../../objects/registry/served.ts';
import type { Backend, DiscoveredResource, DiscoveredSubresource } from '../backend.ts';
import type { KindSchemas } from '../openapi/kind-schemas.ts';
import { priorityOf } from './priorities.ts';

export class KindBackends {
  readonly #registry: Registry;
  readonly #backends = new Map<string, Backend>();
  #schemas: Promise<KindSchemas> | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  find(apiVersion: string): Backend | undefined {
    if (!this.#registry.hasVersion(apiVersion)) return undefined;
    return getOrInsert(this.#backends, apiVersion, () => this.#create(apiVersion));
  }

  all(): readonly Backend[] {
    return [...this.#registry.apiVersions].map((apiVersion) => this.find(apiVersion)!);
  }

  #create(apiVersion: string): Backend {
    const registry = this.#registry;
    return {
      apiVersion,
      priority: priorityOf(apiVersion),
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
    // Kinds that are not stored, such as reviews, cannot be watched. An unusable version is not named, as in
    // Kubernetes.
    storageVersionHash: verbs.includes('watch') && kind.hub.served !== false ? storageVersionHash(kind) : undefined,
    subresources: [...subresources.values()].map((each) => discoveredSubresource(each, version.apiVersion)),
  };
}

function discoveredSubresource({ name, verbs, body }: ServedSubresource, own: string): DiscoveredSubresource {
  return { name, kind: body.kind, apiVersion: body.apiVersion === own ? undefined : body.apiVersion, verbs };
}

const HASH_BYTES = 8;

/**
 * Hashes the group, version and kind that objects are stored as. A storage migrator compares the hash between servers,
 * so it is computed as in Kubernetes.
 */
function storageVersionHash({ hub, kind }: Pick<Kind, 'hub' | 'kind'>): string {
  const digest = createHash('sha256').update(`${hub.group}/${hub.version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
