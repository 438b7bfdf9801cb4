import type { Item, ListReply, ObjectReply, Reply } from '../../../api/reply.ts';
import { type MaybeAsync, whenReady } from '../../objects/conversion/convert.ts';
import type { Shaping } from './forms.ts';
import { PartialListWriter, partialJson } from './metadata.ts';
import { type Source, sourceOf } from './source.ts';
import { type TableOptions, TableWriter, tableJson } from './table.ts';
import { shapeWatch } from './watch.ts';

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
