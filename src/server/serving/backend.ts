/** The contract of a backend, which serves one group and version, for routing, discovery and published schemas. */
import type { Readable } from 'node:stream';
import type { User } from '../../api/user.ts';
import type { ServedResource } from '../objects/registry/registry.ts';
import type { Exchange } from './exchange.ts';

export interface Backend {
  /** The group and version, such as `apps/v1`; only the version for the core group. */
  readonly apiVersion: string;
  readonly priority: BackendPriority;
  /** Returns the resources for discovery, in any order. Read again after every change of the registry. */
  resources(): readonly DiscoveredResource[];
  /** True when `resources` may be outdated, for example when a proxied API cannot be reached. */
  readonly isStale?: boolean;
  /** Returns the schemas. Loaded when a client first requests one: many servers are never asked. */
  schemas(): Promise<BackendSchemas>;
  readonly serving: Serving;
}

/** The position of a group and a version in discovery. The larger number comes first, as in an APIService. */
export interface BackendPriority {
  /** Priority of the group. If versions of a group differ, the largest counts. Equal ones are ordered by name. */
  readonly group: number;
  /** Priority of the version within its group. Equal ones are ordered as versions are: stable first, then newest. */
  readonly version: number;
}

/** The way requests below the path of the group and version are served. */
type Serving = { readonly type: 'objects'; resource(plural: string): ServedResource | undefined } | ProxiedServing;

/** An API that another server serves. */
export interface ProxiedServing {
  readonly type: 'proxy';
  readonly serve: ServeProxied;
  readonly forward: ForwardProxied;
}

/**
 * Serves a request that has been authenticated and authorized. Handles the path of the group and version, and every
 * path below it. Errors that it throws are handled like those of any other request.
 */
export type ServeProxied = (exchange: Exchange, request: ProxiedRequest) => Promise<void>;

/** Forwards the request of a component in this process, which has been authorized. Rejects with an ApiError. */
export type ForwardProxied = (request: ForwardedRequest & { readonly user: User }) => Promise<ForwardedResponse>;

/** An HTTP request of a component in this process. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Aborts the request until its response has begun. */
  readonly signal: AbortSignal;
}

export type ForwardedResponse = Readable & { readonly statusCode?: number | undefined };

export interface ProxiedRequest {
  readonly user: User;
  /** The path as sent, without the query. */
  readonly path: string;
  /** True when the response may take as long as it likes, as for a watch; any other is bound by the request timeout. */
  readonly isLongRunning: boolean;
  /** Must be called when a long-running response begins, to lift the request timeout. */
  readonly goesOn: () => void;
}

export interface DiscoveredResource {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** Categories. A kind in two groups has them only in one: clients would show its objects twice. */
  readonly categories: readonly string[];
  /** True when the kind has moved to another group: clients would warn about a short name in two groups. */
  readonly hasMoved: boolean;
  /** Identifies the stored version of objects; undefined for kinds that are not stored. Clients only compare it. */
  readonly storageVersionHash?: string | undefined;
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredSubresource {
  readonly name: string;
  readonly kind: string;
  /** The group and version of that kind; undefined if it is the backend's own. */
  readonly apiVersion: string | undefined;
  readonly verbs: readonly string[];
}

/** A part of a document: a JSON tree. */
export type Json = { [key: string]: unknown };

/** The published schemas of a backend. Every method creates a new document; the caller caches it. */
export interface BackendSchemas {
  /** Returns its part of the single OpenAPI 2 document. */
  v2(): OpenApiV2Part | Promise<OpenApiV2Part>;
  v3(): Json | Promise<Json>;
  /** Returns its Swagger 1.2 declaration, if it has one. */
  swagger?(): Json;
}

/** Entries by path, by name of the definition, and by name of the parameter. */
export interface OpenApiV2Part {
  readonly paths: Json;
  readonly definitions: Json;
  readonly parameters: Json;
}

export interface Backends {
  /** Incremented with every change. */
  readonly generation: number;
  all(): readonly Backend[];
  /** Returns the groups, without the core one, in the order of discovery. */
  groups(): readonly string[];
  hasGroup(group: string): boolean;
}
