import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { KubeObject } from '../kinds/kind.ts';
import type { Status } from './errors.ts';

/** An item whose processing time depends on its size. */
export interface Sized {
  /** Approximate size in bytes; 0 when it is unknown, and small. */
  readonly size: number;
}

/** An object in a reply. Immutable. */
export interface Item {
  /** The object in the version of the call. Must not be changed. */
  readonly object: KubeObject;
  /** Returns the object as JSON, encoded at most once. */
  json(): Buffer;
}

export interface ListedItem extends Item {
  /** The metadata, available without decoding the object. */
  readonly metadata: KubeObject['metadata'];
  /** Approximate size in bytes; 0 when it is unknown, and small. */
  readonly size: number;
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
  readonly items: readonly ListedItem[];
  /** True when each item includes its kind and version. */
  readonly hasTypedItems?: boolean | undefined;
  /** Decodes the objects for a caller that reads all, over several turns if need be. Returns undefined when done. */
  decode(): Promise<void> | undefined;
  /** Encodes the objects so that `json` is quick, over several turns if need be. Returns undefined when done. */
  encode(): Promise<void> | undefined;
  /** Passes items, or values derived from them, to `read`, in turns if need be. Returns undefined when done. */
  readInTurns<T extends Sized>(items: readonly T[], read: (item: T) => void): Promise<void> | undefined;
  json(): Buffer;
  /** The list compressed at the lowest gzip level; undefined when the result would not be cached. */
  readonly gzip: (() => Promise<Buffer>) | undefined;
  /** Caches the protobuf encoding as long as the list does not change; undefined when lists are not cached. */
  readonly protobuf: ListBodyCache | undefined;
}

export interface ListBody {
  readonly bytes: Buffer;
  /** The body compressed at the lowest gzip level; undefined when the result would not be cached. */
  readonly gzip: (() => Promise<Buffer>) | undefined;
}

export interface ListBodyCache {
  find(): ListBody | undefined;
  /** Allocates memory for a list that is then passed to `keep`. */
  allocate(length: number): Buffer;
  keep(bytes: Buffer): ListBody;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** A bookmark has only kind, apiVersion and metadata; an error is a Status. */
  readonly object: KubeObject | Status;
  /** `{"type":…,"object":…}` and a newline, encoded at most once for all watchers. */
  json(): Buffer;
}

/**
 * A running watch. The server pushes the events of one turn of the event loop as a batch; the consumer reports its backlog.
 * Exactly one consumer attaches, as late as it wants; no event is lost until then.
 */
export interface WatchReply {
  readonly type: 'watch';
  attach(consumer: WatchConsumer): void;
  /** Ends the watch. The consumer that attaches must call this: the signal of the call does not end a watch. */
  stop(): void;
}

export interface WatchConsumer {
  events(batch: WatchBatch): void;
  /** Bytes that the client has not read. A watch that falls too far behind is ended, so that the client resumes it. */
  backlog(): number;
  /** Registers a listener for whenever the backlog may have shrunk. Absent: events are delivered at once. */
  readonly onProgress?: ((listener: () => void) => void) | undefined;
  /** Called after the last event: after the timeout, when the history is gone (ERROR event), or the server stops. */
  end(): void;
}

/** The events of one turn of the event loop. Watches with the same selection share a batch and its encoding. */
export interface WatchBatch {
  readonly events: readonly WatchEvent[];
  /** The lines of all events in one buffer. */
  json(): Buffer;
}

export interface ObjectReply {
  readonly type: 'object';
  readonly item: Item;
}

/** A Status that reports a success, as deletes return it. */
export interface StatusReply {
  readonly type: 'status';
  readonly status: Status;
}

/** A stream of bytes, such as the log of a container. It is read on demand, and may go on until the reader stops. */
export interface StreamReply {
  readonly type: 'stream';
  readonly contentType: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** A bidirectional connection with the client, such as exec. It starts once the connection is handed over. */
export interface ConnectionReply {
  readonly type: 'connection';
  /** Resolves when the connection is over. Rejects with an ApiError only before a response was sent. */
  serve(client: ClientConnection): Promise<void>;
}

export interface ClientConnection {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /**
   * Switches to another protocol, with these headers (names and values) in the response. The connection is closed when the
   * server shuts down. Throws a BadRequest if the client did not ask for another protocol.
   */
  upgrade(headers: readonly string[]): Duplex;
  readonly hasBody: boolean;
  /** The body of the request as it arrives, with back-pressure. */
  body(): Readable;
  /** Starts a streaming response with these headers. */
  respond(code: number, headers: readonly string[]): Writable;
}

export type Reply = ObjectReply | ListReply | WatchReply | StatusReply | StreamReply | ConnectionReply;
