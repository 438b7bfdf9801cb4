/** Options of the client's verbs, and their form in requests. */

import type { CallOptions } from '../api/call.ts';
import type { Draft } from '../api/object-types.ts';
import type { Request } from './transport/transport.ts';

interface RequestLimits {
  readonly signal?: AbortSignal;
  /** Timeout over a network, in milliseconds. Default: that of the transport. */
  readonly timeoutMs?: number;
}

export interface ReadOptions extends Pick<CallOptions, 'resourceVersion'>, RequestLimits {}

export interface SubresourceReadOptions extends ReadOptions, Pick<Request, 'query'> {}

export type Selectors = Pick<CallOptions, 'labelSelector' | 'fieldSelector'>;

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

export interface WriteOptions extends RequestLimits {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
}

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** Conditions on the object; rejects with a Conflict when they are not met. */
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

/** The options as fields of a request. */
export type Asked = Pick<Request, 'options' | 'signal' | 'timeoutMs' | 'metadataOnly' | 'query'>;

const NO_OPTIONS: CallOptions = Object.freeze({});

/** Splits options into query parameters and other fields of the request. */
export function split({
  signal,
  timeoutMs,
  metadataOnly,
  query,
  ...options
}: CallOptions & Omit<Asked, 'options'>): Asked {
  return { options, signal, timeoutMs, metadataOnly, query };
}

export function write({ dryRun, fieldManager, signal, timeoutMs }: WriteOptions): Asked {
  // Fast path: most writes have no options.
  if (!dryRun && fieldManager === undefined) return { options: NO_OPTIONS, signal, timeoutMs };
  return { options: { ...drily(dryRun), ...(fieldManager === undefined ? {} : { fieldManager }) }, signal, timeoutMs };
}

export function deletion({ signal, ...options }: DeleteOptions): Asked {
  return { options: deletionOptions(options), signal };
}

/** Sends options in the body: Kubernetes ignores those of the query when there is a body. */
export function deletionBody(options: DeleteOptions): Pick<Request, 'body'> {
  const { preconditions } = options;
  if (!preconditions) return {};
  return { body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions, ...deletionOptions(options) } };
}

function deletionOptions({ dryRun, gracePeriodSeconds, propagationPolicy }: DeleteOptions): CallOptions {
  return {
    ...drily(dryRun),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy ? { propagationPolicy } : {}),
  };
}

const drily = (dryRun = false) => (dryRun ? { dryRun: ['All'] } : {});

export function patchBody(patch: Patch<any>): Pick<Request, 'patchType' | 'body'> {
  return { patchType: patch.type, body: patch.type === 'json' ? patch.operations : patch.changes };
}
