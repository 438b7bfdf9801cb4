/** Calls a server in the same process, without sockets and JSON. */
import type { Status } from '../../api/errors.ts';
import { put } from '../../base/json/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Answer, ListMeta, RawEvent, Request, Transport, WatchStream } from './transport.ts';
import { WatchPipe } from './watch-pipe.ts';

/** The parts of the server's reply that the transport uses. */
export type DirectReply =
  | { readonly type: 'object'; readonly item: { readonly object: KubeObject } }
  | DirectList
  | { readonly type: 'status'; readonly status: Status }
  | { readonly type: 'stream' | 'connection' }
  | { readonly type: 'watch'; attach(consumer: DirectConsumer): void; stop(): void };

interface DirectList {
  readonly type: 'list';
  readonly metadata: ListMeta;
  readonly items: readonly { readonly object: KubeObject; readonly metadata: KubeObject['metadata'] }[];
  /** Must be awaited before the objects are read. */
  decode(): Promise<void> | undefined;
}

interface DirectConsumer {
  events(batch: { readonly events: readonly RawEvent[] }): void;
  backlog(): number;
  end(): void;
}

/** Bytes that a queued event counts in the backlog: the objects themselves are shared with the server. */
const EVENT_COST_BYTES = 1024;

const PARTIAL_KIND = 'PartialObjectMetadata';
const META_VERSION = 'meta.k8s.io/v1';

/**
 * Page size of lists. Pages are neither encoded nor sent, but each one scans all objects again. With thousands of
 * objects in small pages, a watch would begin long after the version of the list while the server is busy.
 */
const PAGE_SIZE = 2_000;

/** `handle` makes calls as one user, who needs the rights for each (see `server.direct`). */
export function directTransport(handle: (call: Request) => Promise<DirectReply>): Transport {
  async function send(request: Request): Promise<DirectReply> {
    const { verb, apiVersion, plural, namespace, name, subresource, body, patchType, options, signal } = request;
    signal?.throwIfAborted();
    // The server takes ownership of the body, and the caller's may be shared or frozen.
    const own = body === undefined ? undefined : copy(body);
    return handle({ verb, apiVersion, plural, namespace, name, subresource, body: own, patchType, options, signal });
  }

  return {
    pageSize: PAGE_SIZE,

    async call(request): Promise<Answer> {
      const reply = await send(request);
      switch (reply.type) {
        case 'object':
          return { type: 'object', object: reply.item.object };
        case 'list': {
          if (request.metadataOnly) {
            const items = reply.items.map(({ metadata }) => ({
              kind: PARTIAL_KIND,
              apiVersion: META_VERSION,
              metadata,
            }));
            return { type: 'list', metadata: reply.metadata, items };
          }
          const decoding = reply.decode();
          if (decoding) await decoding;
          return { type: 'list', metadata: reply.metadata, items: reply.items.map((item) => item.object) };
        }
        case 'status':
          return reply;
        case 'stream':
        case 'connection':
          throw new Error('unexpected answer: a stream');
        case 'watch':
          reply.stop();
          throw new Error('unexpected answer: a watch');
      }
    },

    async watch(request): Promise<WatchStream> {
      const { signal } = request;
      const reply = await send(request);
      if (reply.type !== 'watch') throw new Error('unexpected answer: not a watch');
      const onAbort = () => pipe.close();
      const pipe = new WatchPipe(() => {
        signal?.removeEventListener('abort', onAbort);
        reply.stop();
      });
      attach(reply, pipe);
      if (signal?.aborted) pipe.close();
      else signal?.addEventListener('abort', onAbort, { once: true });
      return pipe;
    },
  };
}

function attach(reply: Extract<DirectReply, { type: 'watch' }>, pipe: WatchPipe): void {
  reply.attach({
    events: (batch) => pipe.push(batch.events),
    backlog: () => pipe.backlog * EVENT_COST_BYTES,
    end: () => pipe.end(),
  });
}

/** Copies the value as JSON encoding and parsing would. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : copy(item)));
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    const copied = typeof field === 'object' ? copy(field) : field;
    // Keeps the common case fast: every write of a component is copied.
    if (key === '__proto__') put(out, key, copied);
    else out[key] = copied;
  }
  return out;
}
