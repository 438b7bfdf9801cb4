import { badRequest, methodNotAllowed, noSuchPath } from '../../../../api/errors.ts';
import { HISTORY_PATH } from '../../../../api/past.ts';
import { BoundedMap } from '../../../../base/collections/bounded-map.ts';
import { isNamespaceSubresource } from '../../../../kinds/groups/core/namespace.ts';
import type { Verb } from '../../../../kinds/kind.ts';
import type { ServedResource } from '../../../objects/registry/registry.ts';
import { type ServedSubresource, takesPath } from '../../../objects/registry/served.ts';
import type { ProxiedServing, ServeProxied } from '../../backend.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';

/** The objects and the subresource that a path names. */
export interface Route {
  readonly resource: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: ServedSubresource | undefined;
  /** The rest of the path after a subresource that takes one, as sent: `/healthz`; empty if there is none. */
  readonly path: string | undefined;
  /** True for the paths under `/watch/`. */
  readonly watch: boolean;
  /** True for the paths under `/history/`. */
  readonly isPast: boolean;
}

/** Returns the group and version of a path, and the index of the segment after them; undefined for any other path. */
function versionOf(segments: PathSegments): { apiVersion: string; end: number } | undefined {
  const root = segments.at(1);
  if (root === 'api') return { apiVersion: segments.at(2) ?? '', end: 3 };
  if (root === 'apis') return { apiVersion: `${segments.at(2)}/${segments.at(3)}`, end: 4 };
  return undefined;
}

/** Returns the proxy for a path whose group and version is proxied; undefined for any other path. */
export function findProxy(path: string, backends: BackendRegistry): ProxiedServing | undefined {
  const found = versionOf(new PathSegments(path));
  const serving = found && backends.find(found.apiVersion)?.serving;
  return serving?.type === 'proxy' ? serving : undefined;
}

/**
 * Finds the objects that a path names; undefined when it does not have the form of an object's path, its group is
 * unknown, or its group and version is proxied. A non-existent path inside a known group is a 404 with the API's own
 * message.
 */
export function findRoute(path: string, backends: BackendRegistry): Route | undefined {
  if (!path.startsWith(`${HISTORY_PATH}/api`)) return findPresent(path, backends);
  const found = findPresent(path.slice(HISTORY_PATH.length), backends);
  if (found?.subresource || found?.watch) throw noSuchPath();
  return found && { ...found, isPast: true };
}

function findPresent(path: string, backends: BackendRegistry): Route | undefined {
  const segments = new PathSegments(path);
  const found = versionOf(segments);
  if (!found || segments.length <= found.end) return undefined;
  const serving = backends.find(found.apiVersion)?.serving;
  if (serving?.type === 'proxy') return undefined;
  let at = found.end;

  const watch = segments.at(at) === 'watch';
  // The paths of release 1.7 and before: `/api/v1/proxy/namespaces/a/pods/b/path`.
  const isOldProxy = segments.at(at) === 'proxy';
  if (watch || isOldProxy) at++;
  let namespace: string | undefined;
  if (segments.at(at) === 'namespaces' && segments.length > at + 2 && !isNamespaceSubresource(segments.at(at + 2)!)) {
    namespace = segments.at(at + 1);
    at += 2;
  }
  const resource = serving?.resource(segments.at(at) ?? '');
  if (!resource) {
    if (segments.at(1) === 'apis' && !backends.hasGroup(segments.at(2)!)) return undefined;
    throw noSuchPath();
  }
  const name = segments.at(at + 1, takesControls(resource.kind));
  const namespaced = resource.kind.scope === 'Namespaced';
  if (namespace === '' || name === '') throw noSuchPath();
  if (namespaced ? namespace === undefined && name !== undefined : namespace !== undefined) throw noSuchPath();
  if (isOldProxy) {
    const proxy = resource.subresources.get('proxy');
    if (!proxy || name === undefined) throw noSuchPath();
    return { resource, namespace, name, subresource: proxy, path: segments.from(at + 2), watch, isPast: false };
  }
  const part = segments.at(at + 2);
  const subresource = part === undefined ? undefined : resource.subresources.get(part);
  if (part !== undefined && (!subresource || watch)) throw noSuchPath();
  const rest = subresource && takesPath(subresource) ? segments.from(at + 3) : undefined;
  if (rest === undefined && segments.length > at + 3) throw noSuchPath();
  return { resource, namespace, name, subresource, path: rest, watch, isPast: false };
}

/** Reports whether names may have control characters, like those of roles: what can be created must be reachable. */
function takesControls({ name }: ServedResource['kind']): boolean {
  return name !== undefined && name('\n', false).length === 0;
}

/** Limit for the cache of routes; those of long paths are not cached. */
const MAX_CACHED_BYTES = 320 * 1024;
const MAX_PATH_LENGTH = 256;
const ROUTE_BYTES = 200;

/** Finds routes, and caches them until the backends change: clients request the same paths repeatedly. */
export class Routes {
  readonly #known = new BoundedMap<Route>({ maxBytes: MAX_CACHED_BYTES, bytesOf: () => ROUTE_BYTES });
  #generation = 0;

  constructor(private readonly backends: BackendRegistry) {}

  /** Finds the route of a path, with which `url` begins. Whole URLs are cached: a substring would keep them alive. */
  find(path: string, url: string): Route | undefined {
    const { generation } = this.backends;
    if (generation !== this.#generation) {
      this.#known.clear();
      this.#generation = generation;
    }
    const known = this.#known.get(path);
    if (known) return known;
    const route = findRoute(path, this.backends);
    if (route && path.length <= MAX_PATH_LENGTH && path.length === url.length) this.#known.set(path, route);
    return route;
  }

  proxyOf(path: string): ServeProxied | undefined {
    return findProxy(path, this.backends)?.serve;
  }
}

/** Returns the verb of a method at a route. Throws MethodNotAllowed. */
export function verbOf(method: string, route: Route, watch: boolean): Verb {
  const verb = namedVerb(method, route, watch);
  const { verbs } = route.subresource ?? route.resource;
  const isServed = verb && verbs.includes(verb) && (!route.isPast || verb === 'get' || verb === 'list');
  if (!isServed) throw methodNotAllowed();
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
    // Only a program behind the proxy answers it. It reads nothing but that answer, so it needs the permission to get.
    case 'OPTIONS':
      return subresource && takesPath(subresource) ? 'get' : undefined;
    default:
      return undefined;
  }
}

/** The segments of a path, decoded on access: the rest after a proxy subresource is passed on as sent. */
class PathSegments {
  readonly #segments: readonly string[];
  readonly #isEncoded: boolean;

  constructor(private readonly path: string) {
    const segments = path.split('/');
    if (segments.length > 2 && segments.at(-1) === '') segments.pop();
    this.#segments = segments;
    this.#isEncoded = path.includes('%');
  }

  /** Number of segments. The first one, before the leading slash, is empty; a trailing slash does not count. */
  get length(): number {
    return this.#segments.length;
  }

  /** Returns a segment. Throws a BadRequest when it cannot be a name; very few names have control characters. */
  at(index: number, mayHaveControls = false): string | undefined {
    const segment = this.#segments[index];
    return segment !== undefined && this.#isEncoded ? decodeSegment(segment, mayHaveControls) : segment;
  }

  /** Returns the path from a segment on, as sent, with the slash before the segment and a trailing one. */
  from(index: number): string {
    return this.path
      .split('/')
      .slice(index)
      .map((segment) => `/${segment}`)
      .join('');
  }
}

/** Splits a path into decoded segments, of which the first is empty; a trailing slash is ignored. */
export function splitPath(path: string): string[] {
  const segments = new PathSegments(path);
  return Array.from({ length: segments.length }, (_, index) => segments.at(index)!);
}

function decodeSegment(segment: string, mayHaveControls: boolean): string {
  const decoded = decodeComponent(segment);
  for (let i = 0; i < decoded.length; i++) {
    const code = decoded.charCodeAt(i);
    const isControl = code < 0x20 || code === 0x7f;
    // An encoded slash would change the meaning of the path.
    if (code === 0x2f || (isControl && !mayHaveControls)) {
      throw badRequest(`invalid path segment ${JSON.stringify(decoded.slice(0, 100))}`);
    }
  }
  return decoded;
}

/** Decodes percent-encoding; in a query, a plus is a space. Throws a BadRequest for invalid UTF-8. */
export function decodeComponent(text: string, query = false): string {
  const spaced = query && text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (cause) {
    throw badRequest(`invalid URL escape in ${JSON.stringify(text.slice(0, 100))}`, cause);
  }
}
