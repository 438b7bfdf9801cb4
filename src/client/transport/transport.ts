/**
 * The contract of a connection to the server. Requests are the server's calls, so the direct transport only passes them
 * on.
 */
import type { Call } from '../../api/call.ts';
import type { Status } from '../../api/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';

/** A call without its user, which the connection determines. */
export interface Request
  extends Omit<Call, 'user' | 'userAgent' | 'requestId' | 'path' | 'past' | 'parameters' | 'duplicates'> {
  /** Requests metadata only, as a PartialObjectMetadata. Events of a direct watch have whole objects. */
  readonly metadataOnly?: boolean | undefined;
  /** Timeout over a network, in milliseconds. Default: that of the transport. */
  readonly timeoutMs?: number | undefined;
  /** Query parameters that only another server knows. */
  readonly query?: Readonly<Record<string, string>> | undefined;
}

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export type Answer =
  | { readonly type: 'object'; readonly object: KubeObject }
  | {
      readonly type: 'list';
      readonly metadata: ListMeta;
      readonly items: readonly KubeObject[];
      /** Encoded size of the answer; undefined when it was not encoded. */
      readonly bytes?: number;
    }
  | { readonly type: 'status'; readonly status: Status };

export interface RawEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** A bookmark has only kind, apiVersion and metadata; an error is a Status. */
  readonly object: KubeObject | Status;
}

/**
 * The events of a watch for one consumer, in batches of the waiting ones. The stream ends when the server or the
 * consumer closes it, or its signal is aborted; it throws an ApiError when the connection breaks.
 */
export interface WatchStream extends AsyncIterable<readonly RawEvent[]> {
  close(): void;
}

/** Both methods reject with an ApiError, or with the reason of the request's signal. */
export interface Transport {
  /** The preferred page size of lists. */
  readonly pageSize?: number;
  /** Limit for the size of all pages of a list together. Default: no limit. */
  readonly maxListBytes?: number;
  call(request: Request): Promise<Answer>;
  /** Resolves when the server has accepted the watch. */
  watch(request: Request): Promise<WatchStream>;
}
