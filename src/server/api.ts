/**
 * The server as a function: a call in, a reply out. The HTTP front end and the direct transport of a client in the same
 * process speak this; neither sockets nor JSON appear here.
 */
import type { Status } from '../base/errors.ts';
import type { KubeObject, Verb } from '../kinds/kind.ts';
import type { RequestNotes } from './request-notes.ts';

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type PatchType = 'json' | 'merge' | 'strategic';

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
  /** Given as `All` or not at all. */
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  /** `Ignore`, `Warn` (the default) or `Strict`: what to do about unknown and duplicate fields. */
  readonly fieldValidation?: string;
  readonly gracePeriodSeconds?: number;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  /** Of a container's log. */
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly stream?: string;
}

/** A request to the server. It is a value: nothing is written into it on its way. */
export interface Call {
  readonly verb: Verb;
  /** `apps/v1`. */
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** A tree as a JSON parser makes it. The server takes it over: the caller must not touch it again. */
  readonly body?: unknown;
  /** Paths of fields that occur more than once in the body, such as `spec.replicas`: a parsed tree does not show them. */
  readonly duplicates?: readonly string[];
  readonly patchType?: PatchType;
  readonly options?: CallOptions;
  readonly user: User;
  readonly signal?: AbortSignal;
}

/** One object as it is served. Never changed after it was made. */
export interface Item {
  /** In the version of the call; frozen or to be treated as such. */
  readonly object: KubeObject;
  /** The same as JSON, encoded at most once for all who ask. */
  json(): Buffer;
}

export interface ListReply {
  readonly type: 'list';
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly selfLink: string;
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly Item[];
  /** The whole list as JSON. */
  json(): Buffer;
  /** The same, at the lowest gzip level, where it is kept for the next who asks for the same list. */
  readonly gzip: (() => Promise<Buffer>) | undefined;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** A bookmark has only kind, apiVersion and metadata; an error is a Status. */
  readonly object: KubeObject | Status;
  /** `{"type":…,"object":…}` and a newline, encoded at most once for all watchers. */
  json(): Buffer;
}

/**
 * A running watch. The server pushes what one turn of the event loop brought; the consumer says when it is full.
 * Exactly one consumer attaches, in the same turn as it got the reply or later; nothing is lost in between.
 */
export interface WatchReply {
  readonly type: 'watch';
  attach(consumer: WatchConsumer): void;
  /** The consumer has gone. */
  stop(): void;
}

export interface WatchConsumer {
  events(batch: WatchBatch): void;
  /** Bytes that wait in front of the client: a watcher too far behind is closed so that it resumes. */
  backlog(): number;
  /** No more events: the time is up, the history is gone (after an ERROR event), or the server stops. */
  end(): void;
}

/** What one turn of the event loop brought. Watchers of the same thing share it, encoding included. */
export interface WatchBatch {
  readonly events: readonly WatchEvent[];
  /** All lines in one piece; for one write. */
  json(): Buffer;
}

export interface ObjectReply {
  readonly type: 'object';
  readonly item: Item;
}

/** A Status as a success: what a delete answers. */
export interface StatusReply {
  readonly type: 'status';
  readonly status: Status;
}

/** What is no object: the log of a container. It is made as it is taken, and may go on until the reader leaves. */
export interface StreamReply {
  readonly type: 'stream';
  readonly contentType: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

export type Reply = ObjectReply | ListReply | WatchReply | StatusReply | StreamReply;

/** Performs a call. Rejects only with an ApiError. What the call yields besides its reply or error is put into `notes`. */
export type Handle = (call: Call, notes?: RequestNotes) => Promise<Reply>;
