/** What the server answers a call with. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { KubeObject } from '../kinds/kind.ts';
import type { Status } from './errors.ts';

/** Something that takes time in proportion to its size. */
export interface Sized {
  /** About how many bytes it has; 0: unknown, and small. */
  readonly size: number;
}

/** One object as it is served. It never changes. */
export interface Item {
  /** In the version of the call. Must not be changed. */
  readonly object: KubeObject;
  /** The same as JSON, encoded at most once. */
  json(): Buffer;
}

/** One object of a list. */
export interface ListedItem extends Item {
  /** Its metadata, for which the object does not have to be decoded. */
  readonly metadata: KubeObject['metadata'];
  /** About how many bytes it has; 0: unknown, and small. */
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
  /** Whether each item says its kind and version. */
  readonly hasTypedItems?: boolean | undefined;
  /** Decodes the objects for a caller that reads them all, in turns of the event loop where that takes long. Undefined: done. */
  decode(): Promise<void> | undefined;
  /** Makes `json` quick, in turns of the event loop where that takes long. Undefined: it is. */
  encode(): Promise<void> | undefined;
  /** Passes items, or what was made of them, to `read`, in turns of the event loop where that takes long. Undefined: done. */
  readInTurns<T extends Sized>(items: readonly T[], read: (item: T) => void): Promise<void> | undefined;
  /** The whole list as JSON. */
  json(): Buffer;
  /** The same, compressed at the lowest gzip level; undefined where the result would not be cached. */
  readonly gzip: (() => Promise<Buffer>) | undefined;
  /** Caches the list in protobuf as long as it does not change; undefined where that is not done. */
  readonly protobuf: ListBodyCache | undefined;
}

/** A list in one encoding. */
export interface ListBody {
  readonly bytes: Buffer;
  /** Compressed at the lowest gzip level; undefined where the result would not be cached. */
  readonly gzip: (() => Promise<Buffer>) | undefined;
}

export interface ListBodyCache {
  find(): ListBody | undefined;
  /** Memory for the list, which is then passed to `keep`. */
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
  /** Ends the watch: the consumer has gone. Whoever attaches it calls this; the signal of the call does not end a watch. */
  stop(): void;
}

export interface WatchConsumer {
  events(batch: WatchBatch): void;
  /** Bytes that the client has not taken yet. A watch that falls too far behind is ended, so that the client resumes it. */
  backlog(): number;
  /** Calls the listener whenever the backlog may have shrunk. Without it, the consumer gets everything at once. */
  readonly onProgress?: ((listener: () => void) => void) | undefined;
  /** There are no more events: the timeout was reached, the history is gone (after an ERROR event), or the server stops. */
  end(): void;
}

/** The events of one turn of the event loop. Watches with the same selection share it, encoding included. */
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

/** A conversation with the client in both directions, such as exec: it begins once the client can be spoken with. */
export interface ConnectionReply {
  readonly type: 'connection';
  /** Resolves when it is over. Rejects with an ApiError as long as the client has had no response. */
  serve(client: ClientConnection): Promise<void>;
}

/** The client of a ConnectionReply. */
export interface ClientConnection {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The address that the client connects from. */
  readonly address: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /**
   * Switches to another protocol, with these headers (names and values) in the response. The connection is closed when the
   * server shuts down. Throws a BadRequest if the client did not ask for another protocol.
   */
  upgrade(headers: readonly string[]): Duplex;
  readonly hasBody: boolean;
  /** The body of the request as it arrives, no faster than it is read. */
  body(): Readable;
  /** Starts a response with these headers, which goes on for as long as it takes. */
  respond(code: number, headers: readonly string[]): Writable;
}

export type Reply = ObjectReply | ListReply | WatchReply | StatusReply | StreamReply | ConnectionReply;
