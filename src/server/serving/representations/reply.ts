import type {
  Item,
  ListReply,
  ObjectReply,
  Reply,
  WatchBatch,
  WatchConsumer,
  WatchEvent,
  WatchReply,
} from '../../../api/reply.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { type MaybeAsync, whenReady } from '../../objects/conversion/convert.ts';
import { batchOf } from '../../objects/reads/watch-channel.ts';
import type { Shaping } from './forms.ts';
import { PartialListWriter, partialJson } from './metadata.ts';
import { type Source, sourceOf, sourceOfEvent } from './source.ts';
import { type TableOptions, TableWriter, tableJson } from './table.ts';

/** Converts a reply to another form. A Status or a stream stays unchanged. Returns a promise when it takes long. */
export function shapeReply(reply: Reply, shaping: Shaping): Reply | Promise<Reply> {
  switch (reply.type) {
    case 'status':
    case 'stream':
    case 'connection':
      return reply;
    case 'object':
      return { type: 'object', item: encodedItem(objectJson(reply, shaping)) };
    case 'list':
      return shapeList(reply, shaping);
    case 'watch':
      return shapeWatch(reply, shaping);
  }
}

function objectJson({ item }: ObjectReply, shaping: Shaping): Buffer {
  const { form, resource } = shaping;
  const source = sourceOf(item, resource);
  if (form.kind !== 'Table') return partialJson(source, form.version);
  return tableJson(source, tableOptions(shaping));
}

/** Converts a list to another form, which is one object: a Table or a PartialObjectMetadataList. */
function shapeList(reply: ListReply, shaping: Shaping): MaybeAsync<ObjectReply> {
  const sources: Source[] = [];
  const decoding = reply.readInTurns(reply.items, (item) => void sources.push(sourceOf(item, shaping.resource)));
  return whenReady(decoding, () => writtenList(reply, sources, shaping));
}

function writtenList(reply: ListReply, sources: readonly Source[], shaping: Shaping): MaybeAsync<ObjectReply> {
  const { form } = shaping;
  const { metadata } = reply;
  const list =
    form.kind === 'Table'
      ? new TableWriter(metadata, sources, tableOptions(shaping))
      : new PartialListWriter(metadata, sources, form.version);
  const writing = reply.readInTurns(list.rows, (row) => list.add(row));
  return whenReady(writing, (): ObjectReply => ({ type: 'object', item: encodedItem(list.done()) }));
}

function tableOptions({ form, include, resource, now }: Shaping): TableOptions {
  return { resource, version: form.version, include, now: now(), headers: true };
}

/** Returns an item that exists as JSON, and is parsed only if YAML is requested. */
function encodedItem(json: Buffer): Item {
  return {
    get object() {
      return JSON.parse(json.toString());
    },
    json: () => json,
  };
}

export function shapeWatch(watch: WatchReply, shaping: Shaping): WatchReply {
  return {
    type: 'watch',
    attach: (consumer) => watch.attach(shapingConsumer(consumer, shaping)),
    stop: () => watch.stop(),
  };
}

function shapingConsumer(consumer: WatchConsumer, shaping: Shaping): WatchConsumer {
  // Only the first event defines the columns; clients keep them.
  let headers = true;
  return {
    events(batch) {
      consumer.events(shapeBatch(batch, shaping, headers));
      if (batch.events.some(({ type }) => type !== 'ERROR')) headers = false;
    },
    backlog: () => consumer.backlog(),
    onProgress: consumer.onProgress && ((listener) => consumer.onProgress?.(listener)),
    end: () => consumer.end(),
  };
}

/** Batches in the forms that clients have requested, shared by watches with the same selection. */
const shapedBatches = memoized((_batch: WatchBatch) => new Map<string, WatchBatch>());

function shapeBatch(batch: WatchBatch, shaping: Shaping, headers: boolean): WatchBatch {
  const byForm = shapedBatches(batch);
  const { form, include, now } = shaping;
  // Ages are shown in seconds.
  const seconds = form.kind === 'Table' ? Math.floor(now() / 1000) : 0;
  const key = `${form.kind} ${form.version} ${include} ${headers} ${seconds}`;
  return getOrInsert(byForm, key, () => shapeEvents(batch, shaping, headers));
}

function shapeEvents({ events }: WatchBatch, shaping: Shaping, headers: boolean): WatchBatch {
  let isFirst = headers;
  return batchOf(
    events.map((event) => {
      if (event.type === 'ERROR') return event;
      const shaped = shapeEvent(event, shaping, isFirst);
      isFirst = false;
      return shaped;
    }),
  );
}

function shapeEvent(event: WatchEvent, { form, include, resource, now }: Shaping, headers: boolean): WatchEvent {
  const { type } = event;
  // Only an error carries a Status.
  const object = event.object as KubeObject;
  const source = sourceOfEvent(event, object);
  const json = form.kind === 'Table' ? table() : partialJson(source, form.version);
  return {
    type,
    get object() {
      return JSON.parse(json.toString());
    },
    json: () => Buffer.concat([Buffer.from(`{"type":"${type}","object":`), json, Buffer.from('}\n')]),
  };

  function table(): Buffer {
    const carried = include === 'None' && endsInitialEvents(object) ? 'Metadata' : include;
    const options = { resource, version: form.version, include: carried, now: now(), headers } as const;
    return tableJson(source, options);
  }
}

/** Reports whether a bookmark ends the initial events. Clients need its annotation, so it has its metadata. */
function endsInitialEvents({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}
