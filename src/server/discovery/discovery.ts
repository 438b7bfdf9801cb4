/**
 * What the server says about itself: which groups, versions and resources there are. Derived from the registry, which is
 * live, and kept until the registry changes. Schemas are not here.
 */
import { splitApiVersion } from '../../kinds/kind.ts';
import type { Registry, Resource } from '../registry.ts';
import { aggregatedDocument } from './aggregated.ts';
import { subresourcesOf, verbsOf } from './subresources.ts';
import { compareVersions } from './versions.ts';

/** What `/version` answers. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  /** The release it behaves like, and the oldest one that may be replaced by it. */
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
  readonly registry: Registry;
  readonly version: VersionInfo;
  /** `host:port` under which clients reach the server. */
  readonly serverAddress: () => string;
}

/** Paths besides the groups' own that `/` lists. */
const OTHER_PATHS = [
  '/.well-known/openid-configuration',
  '/api',
  '/apis',
  '/healthz',
  '/livez',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openid/v1/jwks',
  '/readyz',
  '/version',
];

/** Where a resource stands in several groups, clients take the first one that lists it: never this one. */
const LAST = 'extensions';

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #documents = new Map<string, object | undefined>();
  #generation = -1;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** The document at a path without its trailing slash, such as `/apis/apps/v1`; undefined when there is none. */
  document(path: string): object | undefined {
    const { generation } = this.#options.registry;
    if (generation !== this.#generation) {
      this.#documents.clear();
      this.#generation = generation;
    }
    if (this.#documents.has(path)) return this.#documents.get(path);
    const document = this.#build(path);
    if (document) this.#documents.set(path, document);
    return document;
  }

  /** The same for `/api` and `/apis` with all that is behind them, in one of the forms of aggregated discovery. */
  aggregated(path: string, version: string): object | undefined {
    if (path !== '/api' && path !== '/apis') return undefined;
    const key = `${path} ${version}`;
    // Asking for the plain one forgets what is out of date.
    const known = this.document(path) && this.#documents.get(key);
    if (known) return known;
    const names = path === '/api' ? [''] : this.#groupNames();
    const groups = names.map((name) => ({ name, versions: this.#versionsOf(name) }));
    const document = aggregatedDocument(this.#options.registry, version, groups);
    this.#documents.set(key, document);
    return document;
  }

  /** Whether a group has any version. The core group has the name ''. */
  hasGroup(group: string): boolean {
    for (const apiVersion of this.#options.registry.apiVersions) {
      if (splitApiVersion(apiVersion)[0] === group) return true;
    }
    return false;
  }

  #build(path: string): object | undefined {
    if (path === '') return { paths: this.#paths() };
    const [, root, first, second, ...rest] = path.split('/');
    if (rest.length > 0) return undefined;
    if (root === 'version' && first === undefined) return this.#options.version;
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
    return this.#groupNames().map((name) => this.#groupBody(name));
  }

  #groupNames(): string[] {
    const names = new Set([...this.#options.registry.apiVersions].map((apiVersion) => splitApiVersion(apiVersion)[0]));
    names.delete('');
    return [...names].sort(compareGroups);
  }

  #group(name: string): object | undefined {
    if (!name || !this.hasGroup(name)) return undefined;
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
    const resources = this.#options.registry.resourcesOf(apiVersion);
    if (resources.length === 0) return undefined;
    const [group] = splitApiVersion(apiVersion);
    return {
      kind: 'APIResourceList',
      // The two oldest groups have never said it, and old clients compare.
      ...(group === '' || group === LAST ? {} : { apiVersion: 'v1' }),
      groupVersion: apiVersion,
      resources: resources.flatMap(rowsOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  }

  #versionsOf(group: string): string[] {
    return [...this.#options.registry.apiVersions]
      .filter((apiVersion) => splitApiVersion(apiVersion)[0] === group)
      .sort(compareVersions);
  }

  #addresses(): object[] {
    return [{ clientCIDR: '0.0.0.0/0', serverAddress: this.#options.serverAddress() }];
  }

  #paths(): string[] {
    const paths = new Set(OTHER_PATHS);
    for (const apiVersion of this.#options.registry.apiVersions) {
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

function rowsOf(resource: Resource): Row[] {
  const { kind } = resource;
  const namespaced = kind.scope === 'Namespaced';
  const rows: Row[] = [...subresourcesOf(resource).values()].map((sub) => {
    const [group, version] = sub.apiVersion ? splitApiVersion(sub.apiVersion) : [];
    return {
      name: `${kind.plural}/${sub.name}`,
      singularName: '',
      namespaced,
      ...(sub.apiVersion ? { group, version } : {}),
      kind: sub.kind,
      verbs: sub.verbs,
    };
  });
  rows.push({
    name: kind.plural,
    singularName: kind.singular,
    namespaced,
    kind: kind.kind,
    verbs: verbsOf(resource),
    ...(kind.short.length > 0 ? { shortNames: kind.short } : {}),
    ...(kind.categories.length > 0 ? { categories: kind.categories } : {}),
  } as Row);
  return rows;
}

function compareGroups(a: string, b: string): number {
  return orderOf(a) - orderOf(b) || (a < b ? -1 : 1);
}

function orderOf(group: string): number {
  if (group === LAST) return 2;
  return group.includes('.') && !group.endsWith('.k8s.io') ? 1 : 0;
}
