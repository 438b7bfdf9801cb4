import type { Item, ListReply, ObjectReply, Reply } from '../api.ts';
import type { Shaping } from './forms.ts';
import { partialJson, partialListJson } from './metadata.ts';
import { sourceOf } from './source.ts';
import { type TableOptions, tableJson } from './table.ts';
import { shapeWatch } from './watch.ts';

/** Turns a reply into another form. A Status or a stream stays what it is. A promise where a long list is decoded first. */
export function shapeReply(reply: Reply, shaping: Shaping): Reply | Promise<Reply> {
  switch (reply.type) {
    case 'status':
    case 'stream':
    case 'connection':
      return reply;
    case 'object':
      return { type: 'object', item: encodedItem(objectJson(reply, shaping)) };
    case 'list':
      return reply.decode()?.then(() => shapeList(reply, shaping)) ?? shapeList(reply, shaping);
    case 'watch':
      return shapeWatch(reply, shaping);
  }
}

function objectJson({ item }: ObjectReply, shaping: Shaping): Buffer {
  const { form, resource } = shaping;
  const source = sourceOf(item, resource);
  if (form.kind !== 'Table') return partialJson(source, form.version);
  const { resourceVersion = '' } = item.object.metadata;
  return tableJson({ resourceVersion }, [source], tableOptions(shaping));
}

/** A list in another form is one object: a Table or a PartialObjectMetadataList. */
function shapeList({ metadata, items }: ListReply, shaping: Shaping): ObjectReply {
  const { form, resource } = shaping;
  const sources = items.map((item) => sourceOf(item, resource));
  const json =
    form.kind === 'Table'
      ? tableJson(metadata, sources, tableOptions(shaping))
      : partialListJson(metadata, sources, form.version);
  return { type: 'object', item: encodedItem(json) };
}

function tableOptions({ form, include, resource, now }: Shaping): TableOptions {
  return { resource, version: form.version, include, now: now(), headers: true };
}

/** An item that exists as JSON, and is parsed only where YAML is requested. */
function encodedItem(json: Buffer): Item {
  return {
    get object() {
      return JSON.parse(json.toString());
    },
    json: () => json,
  };
}
