import type { Item, ListReply, ObjectReply, Reply } from '../api.ts';
import type { Resource } from '../registry.ts';
import type { IncludeObject, ObjectForm } from './forms.ts';
import { metadataJson, metadataListJson } from './metadata.ts';
import { sourceOf } from './source.ts';
import { tableJson } from './table.ts';
import { shapeWatch } from './watch.ts';

/** What a client wants to see instead of the objects. */
export interface Shaping {
  readonly form: ObjectForm;
  readonly include: IncludeObject;
  readonly resource: Resource;
  /** Milliseconds since 1970, whenever a row is made. */
  readonly now: () => number;
}

/** A reply in another form. A Status stays what it is. */
export function shapeReply(reply: Reply, shaping: Shaping): Reply {
  switch (reply.type) {
    case 'status':
      return reply;
    case 'object':
      return { type: 'object', item: encodedItem(objectJson(reply, shaping)) };
    case 'list':
      return shapeList(reply, shaping);
    case 'watch':
      return shapeWatch(reply, shaping);
  }
}

function objectJson({ item }: ObjectReply, { form, include, resource, now }: Shaping): string {
  const { version } = form;
  if (form.kind !== 'Table') return metadataJson(item.object, version);
  const { resourceVersion = '' } = item.object.metadata;
  const options = { resource, version, include, now: now(), headers: true };
  return tableJson({ resourceVersion }, [sourceOf(item, resource)], options);
}

/** What answers a list is one object. Its form is no list of items any more, whatever it shows. */
function shapeList({ metadata, items }: ListReply, { form, include, resource, now }: Shaping): ObjectReply {
  const { version } = form;
  const json =
    form.kind === 'Table'
      ? tableJson(
          metadata,
          items.map((item) => sourceOf(item, resource)),
          { resource, version, include, now: now(), headers: true },
        )
      : metadataListJson(
          metadata,
          items.map(({ object }) => object),
          version,
        );
  return { type: 'object', item: encodedItem(json) };
}

/** Something that exists as JSON only, until somebody wants it as YAML. */
function encodedItem(text: string): Item {
  const json = Buffer.from(text);
  return {
    get object() {
      return JSON.parse(text);
    },
    json: () => json,
  };
}
