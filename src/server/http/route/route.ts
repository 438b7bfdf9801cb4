import { badRequest, methodNotAllowed, noSuchPath } from '../../../base/errors.ts';
import type { Verb } from '../../../kinds/kind.ts';
import { type Subresource, subresourcesOf } from '../../discovery/subresources.ts';
import type { Registry, Resource } from '../../registry.ts';
import { decodeComponent } from './percent-decode.ts';

/** A path that names objects. */
export interface Route {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: Subresource | undefined;
  /** The path is one of those under `/watch/`. */
  readonly watch: boolean;
}

/** What follows a namespace's name and is not a resource inside it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/**
 * Finds what a path names; undefined when it does not have the form of an object's path, or its group is unknown. A path
 * inside a known group that leads nowhere is a 404 in the API's own words.
 */
export function findRoute(path: string, registry: Registry): Route | undefined {
  const parts = splitPath(path);
  let at: number;
  let apiVersion: string;
  if (parts[1] === 'api') {
    apiVersion = parts[2] ?? '';
    at = 3;
  } else if (parts[1] === 'apis') {
    apiVersion = `${parts[2]}/${parts[3]}`;
    at = 4;
  } else return undefined;
  if (parts.length <= at) return undefined;

  const watch = parts[at] === 'watch';
  if (watch) at++;
  let namespace: string | undefined;
  if (parts[at] === 'namespaces' && parts.length > at + 2 && !NAMESPACE_SUBRESOURCES.has(parts[at + 2]!)) {
    namespace = parts[at + 1];
    at += 2;
  }
  const resource = registry.resource(apiVersion, parts[at] ?? '');
  if (!resource) {
    if (parts[1] === 'apis' && !hasGroup(registry, parts[2]!)) return undefined;
    throw noSuchPath();
  }
  const name = parts[at + 1];
  const namespaced = resource.kind.scope === 'Namespaced';
  if (parts.length > at + 3 || namespace === '' || name === '') throw noSuchPath();
  if (namespaced ? namespace === undefined && name !== undefined : namespace !== undefined) throw noSuchPath();
  const part = parts[at + 2];
  const subresource = part === undefined ? undefined : subresourcesOf(resource).get(part);
  if (part !== undefined && (!subresource || watch)) throw noSuchPath();
  return { resource, namespace, name, subresource, watch };
}

/** So many routes are remembered, and none of a longer path. */
const MOST = 1000;
const LONGEST = 256;

/** Finds routes, and remembers them until a kind comes or goes: clients ask for the same paths again and again. */
export class Routes {
  readonly #registry: Registry;
  readonly #known = new Map<string, Route>();
  #generation = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** `url` is what the path is the beginning of. A part of a text keeps the whole of it: only whole ones are remembered. */
  find(path: string, url: string): Route | undefined {
    const { generation } = this.#registry;
    if (generation !== this.#generation || this.#known.size >= MOST) {
      this.#known.clear();
      this.#generation = generation;
    }
    const known = this.#known.get(path);
    if (known) return known;
    const route = findRoute(path, this.#registry);
    if (route && path.length <= LONGEST && path.length === url.length) this.#known.set(path, route);
    return route;
  }
}

/** The verb that a method means at a route. */
export function verbOf(method: string, route: Route, watch: boolean): Verb {
  const verb = namedVerb(method, route, watch);
  const allowed = route.subresource ? route.subresource.verbs : route.resource.kind.verbs;
  if (!verb || (allowed && !allowed.includes(verb))) throw methodNotAllowed();
  return verb;
}

function namedVerb(method: string, route: Route, watch: boolean): Verb | undefined {
  const { name, subresource } = route;
  // Under /watch/ there is nothing but to watch.
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

function hasGroup(registry: Registry, group: string): boolean {
  for (const apiVersion of registry.apiVersions) {
    if (apiVersion.startsWith(group) && apiVersion[group.length] === '/') return true;
  }
  return false;
}

/** The segments of a path behind the first, which is empty; a slash at the end does not count. */
export function splitPath(path: string): string[] {
  const parts = path.split('/');
  if (parts.length > 2 && parts.at(-1) === '') parts.pop();
  return path.includes('%') ? parts.map(decodeSegment) : parts;
}

function decodeSegment(segment: string): string {
  const decoded = decodeComponent(segment);
  for (let i = 0; i < decoded.length; i++) {
    const code = decoded.charCodeAt(i);
    // A slash would make the segment two, and control characters are no part of any name.
    if (code < 0x20 || code === 0x7f || code === 0x2f) {
      throw badRequest(`invalid path segment ${JSON.stringify(decoded.slice(0, 100))}`);
    }
  }
  return decoded;
}
