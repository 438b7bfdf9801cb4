/**
 * The contract of a backend: what serves one group and version. Routing, discovery and the published schemas know backends
 * and nothing of what is behind them.
 */
import type { Readable } from 'node:stream';
import type { User } from '../../api/user.ts';
import type { ServedResource } from '../objects/registry/registry.ts';
import type { Exchange } from './exchange.ts';

export interface Backend {
  /** The group and version, such as `apps/v1`; of the core group the version alone. */
  readonly apiVersion: string;
  readonly priority: BackendPriority;
  /** What discovery lists, in any order. Read again after every change of the registry. */
  resources(): readonly DiscoveredResource[];
  /** Whether `resources` may be out of date, as when a proxied API cannot be reached. */
  readonly isStale?: boolean;
  /** Loaded when a client first asks for a schema: many a server is never asked. */
  schemas(): Promise<BackendSchemas>;
  readonly serving: Serving;
}

/** Where clients find a group and a version in discovery. The larger number comes first, as in an APIService. */
export interface BackendPriority {
  /** Of the group. Where versions of a group differ, the largest counts. Equal ones are ordered by name. */
  readonly group: number;
  /** Of the version among those of its group. Equal ones are ordered as versions are: stable first, then newest. */
  readonly version: number;
}

/** How requests below the path of the group and version are served. */
type Serving = { readonly type: 'objects'; resource(plural: string): ServedResource | undefined } | ProxiedServing;

/** How an API that another server has is served. */
export interface ProxiedServing {
  readonly type: 'proxy';
  readonly serve: ServeProxied;
  readonly forward: ForwardProxied;
}

/**
 * Answers one request, which has been authenticated and authorized. It takes every path below that of the group and
 * version, and that one itself. Errors that it throws are answered as those of any other request.
 */
export type ServeProxied = (exchange: Exchange, request: ProxiedRequest) => Promise<void>;

/** Sends the request of a component in this process, which has been authorized. Rejects with an ApiError. */
export type ForwardProxied = (request: ForwardedRequest & { readonly user: User }) => Promise<ForwardedResponse>;

/** An HTTP request of a component in this process. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Gives the request up until its response has begun. */
  readonly signal: AbortSignal;
}

/** The head of a response, and its body as it arrives. */
export type ForwardedResponse = Readable & { readonly statusCode?: number | undefined };

export interface ProxiedRequest {
  readonly user: User;
  /** As it was sent, without the query. */
  readonly path: string;
  /** Whether its response may take as long as it likes, as that of a watch; any other is bound by the deadline of a request. */
  readonly isLongRunning: boolean;
  /** To be called when a reply has begun that goes on for long: then it is not bound by the deadline of a request. */
  readonly goesOn: () => void;
}

/** A row of discovery. */
export interface DiscoveredResource {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** A kind that two groups serve has its categories in one of them: clients would show its objects twice. */
  readonly categories: readonly string[];
  /**
   * Whether the kind has moved to another group. Clients of aggregated discovery would warn of a short name that two
   * groups list, so that it is left out there.
   */
  readonly hasMoved: boolean;
  /** Identifies the version that objects are stored in; undefined for what is not stored. Clients only compare it. */
  readonly storageVersionHash?: string | undefined;
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredSubresource {
  readonly name: string;
  /** The kind of its bodies. */
  readonly kind: string;
  /** The group and version of that kind; undefined where it is the backend's own. */
  readonly apiVersion: string | undefined;
  readonly verbs: readonly string[];
}

/** A part of a document: a tree as JSON writes it. */
export type Json = { [key: string]: unknown };

/** What a backend publishes of its schemas. Every method builds its document anew; the caller keeps it. */
export interface BackendSchemas {
  /** Its part of the one OpenAPI 2 document. */
  v2(): OpenApiV2Part | Promise<OpenApiV2Part>;
  /** Its OpenAPI 3 document. */
  v3(): Json | Promise<Json>;
  /** Its Swagger 1.2 declaration, where it has one. */
  swagger?(): Json;
}

/** By path, by name of the definition, and by name of the parameter. */
export interface OpenApiV2Part {
  readonly paths: Json;
  readonly definitions: Json;
  readonly parameters: Json;
}

/** All groups and versions that are served, as published documents need them. */
export interface Backends {
  /** Grows with every change. */
  readonly generation: number;
  all(): readonly Backend[];
  /** The groups, without the core one, in the order in which discovery lists them. */
  groups(): readonly string[];
  hasGroup(group: string): boolean;
}
