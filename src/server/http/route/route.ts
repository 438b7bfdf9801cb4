import { badRequest, methodNotAllowed, noSuchPath } from '../../../base/errors.ts';
import type { Verb } from '../../../kinds/kind.ts';
import type { ServeProxied } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import type { ServedResource } from '../../registry.ts';
import type { ServedSubresource } from '../../subresources/served.ts';
import { decodeComponent } from './percent-decode.ts';

/** A path that names objects. */
export interface Route {
  readonly resource: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: ServedSubresource | undefined;
  /** Whether the path is one of those under `/watch/`. */
  readonly watch: boolean;
}

/** Subresources of namespaces, which follow the name as resources inside the namespace do. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** The group and version that a path is below, and where in the path they end; undefined for any other path. */
function versionOf(parts: readonly string[]): { apiVersion: string; end: number } | undefined {
  if (parts[1] === 'api') return { apiVersion: parts[2] ?? '', end: 3 };
  if (parts[1] === 'apis') return { apiVersion: `${parts[2]}/${parts[3]}`, end: 4 };
  return undefined;
}

/** What serves a path whose group and version is proxied; undefined for any other path. */
function findProxy(path: string, backends: BackendRegistry): ServeProxied | undefined {
  const found = versionOf(splitPath(path));
  const serving = found && backends.find(found.apiVersion)?.serving;
  return serving?.type === 'proxy' ? serving.serve : undefined;
}

/**
 * Finds the objects that a path names; undefined when it does not have the form of an object's path, its group is unknown,
 * or its group and version is proxied. A path inside a known group that leads nowhere is a 404 with the API's own message.
 */
export function findRoute(path: string, backends: BackendRegistry): Route | undefined {
  const parts = splitPath(path);
  const found = versionOf(parts);
  if (!found || parts.length <= found.end) return undefined;
  const serving = backends.find(found.apiVersion)?.serving;
  if (serving?.type === 'proxy') return undefined;
  let at = found.end;

  const watch = parts[at] === 'watch';
  if (watch) at++;
  let namespace: string | undefined;
  if (parts[at] === 'namespaces' && parts.length > at + 2 && !NAMESPACE_SUBRESOURCES.has(parts[at + 2]!)) {
    namespace = parts[at + 1];
    at += 2;
  }
  const resource = serving?.resource(parts[at] ?? '');
  if (!resource) {
    if (parts[1] === 'apis' && !backends.hasGroup(parts[2]!)) return undefined;
    throw noSuchPath();
  }
  const name = parts[at + 1];
  const namespaced = resource.kind.scope === 'Namespaced';
  if (parts.length > at + 3 || namespace === '' || name === '') throw noSuchPath();
  if (namespaced ? namespace === undefined && name !== undefined : namespace !== undefined) throw noSuchPath();
  const part = parts[at + 2];
  const subresource = part === undefined ? undefined : resource.subresources.get(part);
  if (part !== undefined && (!subresource || watch)) throw noSuchPath();
  return { resource, namespace, name, subresource, watch };
}

const MAX_ROUTES = 1000;
const MAX_PATH_LENGTH = 256;

/** Finds routes, and remembers them until the backends change: clients request the same paths again and again. */
export class Routes {
  readonly #backends: BackendRegistry;
  readonly #known = new Map<string, Route>();
  #generation = 0;

  constructor(backends: BackendRegistry) {
    this.#backends = backends;
  }

  /** `url` begins with the path. A substring keeps the whole string alive, so that only whole URLs are remembered. */
  find(path: string, url: string): Route | undefined {
    const { generation } = this.#backends;
    if (generation !== this.#generation || this.#known.size >= MAX_ROUTES) {
      this.#known.clear();
      this.#generation = generation;
    }
    const known = this.#known.get(path);
    if (known) return known;
    const route = findRoute(path, this.#backends);
    if (route && path.length <= MAX_PATH_LENGTH && path.length === url.length) this.#known.set(path, route);
    return route;
  }

  proxyOf(path: string): ServeProxied | undefined {
    return findProxy(path, this.#backends);
  }
}

/** The verb of a method at a route. Throws MethodNotAllowed. */
export function verbOf(method: string, route: Route, watch: boolean): Verb {
  const verb = namedVerb(method, route, watch);
  const { verbs } = route.subresource ?? route.resource;
  if (!verb || !verbs.includes(verb)) throw methodNotAllowed();
  return verb;
}

function namedVerb(method: string, route: Route, watch: boolean): Verb | undefined {
  const { name, subresource } = route;
  // Paths under /watch/ have no other verb.
  if (route.watch) return method === 'GET' ? 'watch' : undefined;
  const onCollection = name === undefined && (route.namespace !== undefined || route.resource.kind.scope === 'Cluster');
  switch (method) {
    case 'GET':
      if (watch && !subresource) return 'watch';
      return name === undefined ? 'list' : 'get';
    case 'HEAD':
      return name === undefined ? 'list' : 'get';
    case 'POST':
      return onCollection || subresource ? 'create' : undefined;
    case 'PUT':
      return name === undefined ? undefined : 'update';
    case 'PATCH':
      return name === undefined ? undefined : 'patch';
    case 'DELETE':
      if (name !== undefined) return 'delete';
      return onCollection ? 'deletecollection' : undefined;
    default:
      return undefined;
  }
}

/** Splits a path into decoded segments, of which the first is empty; a trailing slash is ignored. */
export function splitPath(path: string): string[] {
  const parts = path.split('/');
  if (parts.length > 2 && parts.at(-1) === '') parts.pop();
  return path.includes('%') ? parts.map(decodeSegment) : parts;
}

function decodeSegment(segment: string): string {
  const decoded = decodeComponent(segment);
  for (let i = 0; i < decoded.length; i++) {
    const code = decoded.charCodeAt(i);
    // An encoded slash would change the meaning of the path, and no name contains control characters.
    if (code < 0x20 || code === 0x7f || code === 0x2f) {
      throw badRequest(`invalid path segment ${JSON.stringify(decoded.slice(0, 100))}`);
    }
  }
  return decoded;
}
