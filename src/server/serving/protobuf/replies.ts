/**
 * Encodes replies in protobuf. The bytes of an object are created once for its revision and cached in its view; lists
 * and watch events are assembled from them. Writers are built when the first client requests protobuf.
 */

import type { Status } from '../../../api/errors.ts';
import type {
  Item,
  ListBody,
  ListReply,
  ObjectReply,
  StatusReply,
  WatchBatch,
  WatchEvent,
  WatchReply,
} from '../../../api/reply.ts';
import { allocateForSending, makeMovable } from '../../../base/bytes/shared-buffer.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { type ObjectEncoding, View } from '../../objects/cache/entry/view.ts';
import { ObjectEvent } from '../../objects/cache/history/change-record.ts';
import { batchOf } from '../../objects/reads/watch-channel.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import type { Definition, Definitions } from '../openapi/definitions.ts';
import { delimited, enveloped, envelopedList, envelopeHead, eventFrame } from './envelope.ts';
import { MessageWriters } from './message-writers.ts';
import { ProtobufShapes } from './shapes.ts';

/** The form of the objects in a reply: whole objects, or metadata only. */
interface Form {
  readonly encoding: ObjectEncoding;
  /** Returns the envelope of an object, or of a list; undefined for kinds without a protobuf form. */
  head(apiVersion: string, kind: string): Buffer | undefined;
  listHead(reply: ListReply): Buffer | undefined;
  readonly batches: WeakMap<WatchBatch, WatchBatch>;
}

interface KindForm {
  readonly definition: Definition;
  readonly head: Buffer;
}

export class ProtobufReplies {
  readonly #shapes: ProtobufShapes;
  #definitions: Definitions | undefined;
  #writers: MessageWriters | undefined;
  readonly #kinds = new Map<string, KindForm | undefined>();
  readonly #heads = new Map<string, Buffer>();
  readonly #whole: Form;
  readonly #metadata = new Map<string, Form>();

  constructor(registry: Registry) {
    this.#shapes = new ProtobufShapes(registry);
    this.#whole = {
      encoding: { encode: (object) => this.#encode(object.apiVersion, object.kind, object) },
      head: (apiVersion, kind) => this.#kindForm(apiVersion, kind)?.head,
      listHead: ({ apiVersion, kind }) => this.#head(apiVersion, kind),
      batches: new WeakMap(),
    };
  }

  /** Encodes a Status, which is the body of errors. */
  status(status: Status): Buffer {
    return enveloped(this.#head('v1', 'Status'), this.#encode('v1', 'Status', status));
  }

  /**
   * Encodes a whole reply, with only the metadata of its objects if `metadataVersion` names a version of meta.k8s.io.
   * Undefined: it has no protobuf form. A promise for a long list, which is encoded over several turns of the event
   * loop.
   */
  encode(
    reply: ObjectReply | ListReply | StatusReply,
    metadataVersion: string | undefined,
  ): ListBody | Promise<ListBody> | undefined {
    switch (reply.type) {
      case 'status':
        return { bytes: this.status(reply.status), gzip: undefined };
      case 'object': {
        const bytes = this.#object(reply.item, this.#form(metadataVersion));
        return bytes && { bytes, gzip: undefined };
      }
      case 'list':
        return this.#list(reply, this.#form(metadataVersion));
    }
  }

  /** Returns the watch with protobuf frames instead of lines. Watches with the same selection share them. */
  watch(watch: WatchReply, metadataVersion: string | undefined): WatchReply {
    const form = this.#form(metadataVersion);
    return {
      type: 'watch',
      attach: (consumer) =>
        watch.attach({
          events: (batch) => consumer.events(this.#batch(batch, form)),
          backlog: () => consumer.backlog(),
          onProgress: consumer.onProgress && ((listener) => consumer.onProgress?.(listener)),
          end: () => consumer.end(),
        }),
      stop: () => watch.stop(),
    };
  }

  #batch(batch: WatchBatch, form: Form): WatchBatch {
    return getOrInsert(form.batches, batch, () => batchOf(batch.events.map((event) => this.#framed(event, form))));
  }

  #framed(event: WatchEvent, form: Form): WatchEvent {
    let frame: Buffer | undefined;
    return {
      type: event.type,
      get object() {
        return event.object;
      },
      json: () => {
        frame ??= this.#frame(event, form);
        return frame;
      },
    };
  }

  #frame(event: WatchEvent, form: Form): Buffer {
    const { type } = event;
    if (event instanceof ObjectEvent) {
      const { kind, version } = event.resource;
      const bytes = event.entry.view(event.resource).encoded(form.encoding);
      return eventFrame(type, form.head(version.apiVersion, kind.kind)!, bytes);
    }
    const { object } = event;
    if (object.kind === 'Status')
      return eventFrame(type, this.#head('v1', 'Status'), this.#encode('v1', 'Status', object));
    const { apiVersion, kind } = object as KubeObject;
    return eventFrame(type, form.head(apiVersion, kind)!, form.encoding.encode(object as KubeObject));
  }

  #object(item: Item, form: Form): Buffer | undefined {
    const { apiVersion, kind } = typeOf(item);
    const head = form.head(apiVersion, kind);
    return head && enveloped(head, bytesOf(item, form));
  }

  #list(reply: ListReply, form: Form): ListBody | Promise<ListBody> | undefined {
    const cache = form === this.#whole ? reply.protobuf : undefined;
    const known = cache?.find();
    if (known) return known;
    const [first] = reply.items;
    const type = first && typeOf(first);
    if (type && !form.head(type.apiVersion, type.kind)) return undefined;
    const items: Buffer[] = [];
    const read = (item: Item) => void items.push(bytesOf(item, form));
    const assemble = (): ListBody => {
      const metadata = this.#encode('meta/v1', 'ListMeta', reply.metadata);
      const list = { head: form.listHead(reply)!, metadata, items };
      const bytes = makeMovable(envelopedList(list, (length) => cache?.allocate(length) ?? allocateForSending(length)));
      return cache?.keep(bytes) ?? { bytes, gzip: undefined };
    };
    return reply.readInTurns(reply.items, read)?.then(assemble) ?? assemble();
  }

  #form(metadataVersion: string | undefined): Form {
    if (metadataVersion === undefined) return this.#whole;
    return getOrInsert(this.#metadata, metadataVersion, () => {
      const apiVersion = `meta.k8s.io/${metadataVersion}`;
      return {
        encoding: { encode: ({ metadata }) => delimited(1, this.#encode('meta/v1', 'ObjectMeta', metadata)) },
        head: () => this.#head(apiVersion, 'PartialObjectMetadata'),
        listHead: () => this.#head(apiVersion, 'PartialObjectMetadataList'),
        batches: new WeakMap(),
      };
    });
  }

  #encode(apiVersion: string, kind: string, object: object): Buffer {
    const form = this.#kindForm(apiVersion, kind);
    if (!form || !this.#writers) throw new Error(`${kind} of ${apiVersion} has no protobuf form`);
    return this.#writers.encode(form.definition, object);
  }

  #kindForm(apiVersion: string, kind: string): KindForm | undefined {
    const { definitions } = this.#shapes;
    if (definitions !== this.#definitions) {
      this.#definitions = definitions;
      this.#writers = new MessageWriters(definitions);
      this.#kinds.clear();
    }
    const key = `${apiVersion} ${kind}`;
    let form = this.#kinds.get(key);
    if (!form && !this.#kinds.has(key)) {
      const definition = this.#shapes.find(apiVersion, kind);
      form = definition && { definition, head: envelopeHead(apiVersion, kind) };
      this.#kinds.set(key, form);
    }
    return form;
  }

  #head(apiVersion: string, kind: string): Buffer {
    const key = `${apiVersion} ${kind}`;
    return getOrInsert(this.#heads, key, () => envelopeHead(apiVersion, kind));
  }
}

function typeOf(item: Item): { readonly apiVersion: string; readonly kind: string } {
  return item instanceof View ? { apiVersion: item.version.apiVersion, kind: item.kind.kind } : item.object;
}

function bytesOf(item: Item, { encoding }: Form): Buffer {
  return item instanceof View ? item.encoded(encoding) : encoding.encode(item.object);
}
