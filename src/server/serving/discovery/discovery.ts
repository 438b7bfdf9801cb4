/**
 * Discovery documents: the served groups, versions and resources. They are derived from the backends and cached until
 * those change. Schemas are published elsewhere (`../openapi`).
 */

import { splitApiVersion } from '../../../kinds/kind.ts';
import type { Backend, DiscoveredResource } from '../backend.ts';
import type { BackendRegistry } from '../backends/backend-registry.ts';
import { aggregatedDocument } from './aggregated.ts';

/** The document at `/version`. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  /** The release that the server emulates, and the oldest one that it is compatible with. */
  readonly emulationMajor?: string;
  readonly emulationMinor?: string;
  readonly minCompatibilityMajor?: string;
  readonly minCompatibilityMinor?: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

export interface DiscoveryOptions {
  readonly backends: BackendRegistry;
  readonly version: VersionInfo;
  /** Returns the `host:port` at which clients reach the server. */
  readonly serverAddress: () => string;
}

/** Paths listed at `/` besides those of the groups. */
const OTHER_PATHS = [
  '/.well-known/openid-configuration',
  '/api',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
];

/** Groups whose resource lists have never had an `apiVersion`, which old clients compare. */
const WITHOUT_API_VERSION: ReadonlySet<string> = new Set(['', 'extensions']);

export class Discovery {
  readonly #documents = new Map<string, object>();
  #generation = -1;

  constructor(private readonly options: DiscoveryOptions) {}

  /** Returns the document at a path without trailing slash, such as `/apis/apps/v1`; undefined when there is none. */
  document(path: string): object | undefined {
    return this.#kept(path, () => this.#build(path));
  }

  /** Returns the aggregated document at `/api` or `/apis`, in one of the versions of the format. */
  aggregated(path: string, version: string): object | undefined {
    if (path !== '/api' && path !== '/apis') return undefined;
    return this.#kept(`${path} ${version}`, () => {
      const { backends } = this.options;
      const names = path === '/api' ? [''] : backends.groups();
      return aggregatedDocument(
        version,
        names.map((name) => ({ name, backends: backends.ofGroup(name) })),
      );
    });
  }

  #kept(key: string, build: () => object | undefined): object | undefined {
    const { generation } = this.options.backends;
    if (generation !== this.#generation) {
      this.#documents.clear();
      this.#generation = generation;
    }
    const known = this.#documents.get(key);
    if (known) return known;
    const document = build();
    if (document) this.#documents.set(key, document);
    return document;
  }

  #build(path: string): object | undefined {
    if (path === '') return { paths: this.#paths() };
    const [, root, first, second, ...rest] = path.split('/');
    if (rest.length > 0) return undefined;
    if (root === 'version' && first === undefined) return this.options.version;
    if (root === 'api' && second === undefined) return first === undefined ? this.#core() : this.#resources(first);
    if (root !== 'apis') return undefined;
    if (first === undefined) return { kind: 'APIGroupList', apiVersion: 'v1', groups: this.#groups() };
    if (second === undefined) return this.#group(first);
    return this.#resources(`${first}/${second}`);
  }

  #core(): object | undefined {
    const versions = this.#versionsOf('');
    if (versions.length === 0) return undefined;
    return { kind: 'APIVersions', versions, serverAddressByClientCIDRs: this.#addresses() };
  }

  #groups(): object[] {
    return this.options.backends.groups().map((name) => this.#groupBody(name));
  }

  #group(name: string): object | undefined {
    if (!name || !this.options.backends.hasGroup(name)) return undefined;
    return { kind: 'APIGroup', apiVersion: 'v1', ...this.#groupBody(name) };
  }

  #groupBody(name: string): object {
    const versions = this.#versionsOf(name).map((groupVersion) => ({
      groupVersion,
      version: splitApiVersion(groupVersion)[1],
    }));
    return {
      name,
      versions,
      preferredVersion: versions[0],
      serverAddressByClientCIDRs: this.#addresses(),
    };
  }

  #resources(apiVersion: string): object | undefined {
    const backend = this.options.backends.find(apiVersion);
    if (!backend) return undefined;
    const [group] = splitApiVersion(apiVersion);
    return {
      kind: 'APIResourceList',
      ...(WITHOUT_API_VERSION.has(group) ? {} : { apiVersion: 'v1' }),
      groupVersion: apiVersion,
      resources: rowsOf(backend),
    };
  }

  #versionsOf(group: string): string[] {
    return this.options.backends.ofGroup(group).map(({ apiVersion }) => apiVersion);
  }

  #addresses(): object[] {
    return [{ clientCIDR: '0.0.0.0/0', serverAddress: this.options.serverAddress() }];
  }

  #paths(): string[] {
    const paths = new Set(OTHER_PATHS);
    for (const { apiVersion } of this.options.backends.all()) {
      const [group] = splitApiVersion(apiVersion);
      if (group) paths.add(`/apis/${group}`).add(`/apis/${apiVersion}`);
      else paths.add(`/api/${apiVersion}`);
    }
    return [...paths].sort();
  }
}

interface Row {
  readonly name: string;
}

function rowsOf(backend: Backend): Row[] {
  return backend
    .resources()
    .flatMap(rowsOfResource)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function rowsOfResource(resource: DiscoveredResource): Row[] {
  const { plural, namespaced, shortNames, categories, storageVersionHash } = resource;
  const rows: Row[] = resource.subresources.map((subresource) => {
    const [group, version] = subresource.apiVersion ? splitApiVersion(subresource.apiVersion) : [];
    return {
      name: `${plural}/${subresource.name}`,
      singularName: '',
      namespaced,
      ...(subresource.apiVersion ? { group, version } : {}),
      kind: subresource.kind,
      verbs: subresource.verbs,
    };
  });
  rows.push({
    name: plural,
    singularName: resource.singular,
    namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    shortNames: shortNames.length > 0 ? shortNames : undefined,
    categories: categories.length > 0 ? categories : undefined,
    storageVersionHash: storageVersionHash || undefined,
  } as Row);
  return rows;
}
