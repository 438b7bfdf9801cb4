/** Options of the client's verbs, and how a request carries them. */
import type { Draft } from './object-types.ts';
import type { Request, RequestOptions } from './transport/transport.ts';

export interface ReadOptions extends Pick<RequestOptions, 'resourceVersion'> {
  readonly signal?: AbortSignal;
}

export type Selectors = Pick<RequestOptions, 'labelSelector' | 'fieldSelector'>;

export interface ListOptions extends ReadOptions, Selectors {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
}

export interface WatchOptions extends ReadOptions, Selectors {
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  readonly metadataOnly?: boolean;
}

export interface WriteOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly signal?: AbortSignal;
}

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** Rejects with a Conflict when they do not match the object. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly signal?: AbortSignal;
}

export type Patch<T> =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge' | 'strategic'; readonly changes: Draft<T> | Readonly<Record<string, unknown>> };

interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** Separates what is no option of the URL. */
export function split({
  signal,
  metadataOnly,
  ...options
}: RequestOptions & Pick<Request, 'signal' | 'metadataOnly'>): Pick<Request, 'options' | 'signal' | 'metadataOnly'> {
  return { options, ...(signal ? { signal } : {}), ...(metadataOnly ? { metadataOnly } : {}) };
}

export function write({ dryRun, ...options }: WriteOptions): Pick<Request, 'options' | 'signal'> {
  return split({ ...options, ...(dryRun ? { dryRun: ['All'] } : {}) });
}

export function deletion({ preconditions, ...options }: DeleteOptions): Pick<Request, 'options' | 'signal' | 'body'> {
  if (!preconditions) return write(options);
  const { dryRun, gracePeriodSeconds, propagationPolicy } = options;
  // Kubernetes ignores options of the query when there is a body.
  const body = {
    ...{ kind: 'DeleteOptions', apiVersion: 'v1', preconditions },
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy ? { propagationPolicy } : {}),
  };
  return { ...write(options), body };
}

export function patchBody(patch: Patch<any>): Pick<Request, 'patchType' | 'body'> {
  return { patchType: patch.type, body: patch.type === 'json' ? patch.operations : patch.changes };
}
