/**
 * The server as a function from a call to a reply. The HTTP front end and the direct transport of clients in the same process
 * use it; neither sockets nor JSON appear here.
 */
import type { Verb } from '../kinds/kind.ts';
import type { ParameterValues } from './parameters.ts';
import type { PastParameters } from './past.ts';
import type { Reply } from './reply.ts';
import type { User } from './user.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export type Propagation = 'Orphan' | 'Background' | 'Foreground';

export interface CallOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly includeUninitialized?: boolean;
  readonly export?: boolean;
  readonly exact?: boolean;
  /** `['All']`, or absent. */
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  /** An apply takes over fields that others own. */
  readonly force?: boolean;
  /** `Ignore`, `Warn` (the default) or `Strict`: what to do about unknown and duplicate fields. */
  readonly fieldValidation?: string;
  readonly gracePeriodSeconds?: number;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
}

/** A row of the store that must be unchanged when a write is committed; otherwise the write is rejected. */
export interface WriteFence {
  readonly key: string;
  readonly revision: number;
}

/** A request to the server. It is a value: nothing is written into it on its way. */
export interface Call {
  readonly verb: Verb;
  /** `apps/v1`. */
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** A tree as a JSON parser makes it. The server takes it over: the caller must not use it again. */
  readonly body?: unknown;
  /**
   * Paths of fields that occur more than once in the body, such as `spec.replicas`: a parsed tree does not show them.
   * For server-side apply, lines such as `line N: key "K" already set in map` instead.
   */
  readonly duplicates?: readonly string[] | undefined;
  readonly patchType?: PatchType | undefined;
  readonly options?: CallOptions | undefined;
  /** The rest of the path after the subresource, such as `/healthz`, where the subresource takes one. */
  readonly path?: string | undefined;
  /** Query parameters that the subresource declares. */
  readonly parameters?: ParameterValues | undefined;
  /** Set for reads below `/history`: they are about the past of what the call names. */
  readonly past?: PastParameters | undefined;
  readonly user: User;
  /** The program that sent the request, as its User-Agent names it. */
  readonly userAgent?: string | undefined;
  /** Identifies the request in the audit log and in history; undefined for calls in the same process. */
  readonly requestId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Set for components that act for all servers: rejects their writes once another server has taken over. */
  readonly fence?: WriteFence | undefined;
}

/** Performs a call. Rejects only with an ApiError. Warnings and audit annotations are put into `notes`. */
export type Handle = (call: Call, notes?: RequestNotes) => Promise<Reply>;

/**
 * Collects the warnings for the client and the annotations for the audit log of a request. The code that receives the
 * request creates one and passes it to `handle`; it is complete when `handle` has resolved or rejected.
 */
export class RequestNotes {
  #warnings: Set<string> | undefined;
  #annotations: Record<string, string> | undefined;

  /** The warnings in the order in which they were added; undefined when there are none. */
  get warnings(): readonly string[] | undefined {
    return this.#warnings && [...this.#warnings];
  }

  /** Annotations for the audit log; undefined when there are none. */
  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.#annotations;
  }

  /** Adds a warning. Equal texts are kept once, since a write that is retried gives the same warnings again. */
  warn(text: string): void {
    this.#warnings ??= new Set();
    this.#warnings.add(text);
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= {};
    this.#annotations[key] = value;
  }
}
