import type { Item, WatchEvent } from '../../../api/reply.ts';
import { clone } from '../../../base/json/tree.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { View } from '../../objects/cache/entry/view.ts';
import { ObjectEvent } from '../../objects/cache/history/change-record.ts';
import type { Resource } from '../../objects/registry/registry.ts';

/** An object to be converted to another form. */
export interface Source {
  /** Approximate size of the object in bytes; 0 when it is unknown, and small. */
  readonly size: number;
  /** The object in the version of the request. */
  readonly shown: KubeObject;
  /** The object in the stored version, which columns read. */
  readonly stored: KubeObject;
  /** Returns `shown` as JSON. */
  json(): Buffer;
  metadataJson(): Buffer;
  /** The view that caches converted forms of the object; undefined for objects outside the cache. */
  readonly view: View | undefined;
}

/** The part of a row that does not change with time: see table.ts. */
export type Row = NonNullable<View['row']>;

export function sourceOf(item: Item, resource: Resource): Source {
  if (item instanceof View) return new StoredSource(item);
  return plainSource(item.object, storedOf(item.object, resource));
}

export function sourceOfEvent(event: WatchEvent, object: KubeObject): Source {
  if (event instanceof ObjectEvent) return sourceOf(event.entry.view(event.resource), event.resource);
  // A bookmark has only metadata, which is the same in every version.
  return plainSource(object, object);
}

/** An object in the cache, where most converted forms are kept. */
class StoredSource implements Source {
  readonly shown: KubeObject;
  readonly stored: KubeObject;

  constructor(readonly view: View) {
    this.shown = view.object;
    this.stored = view.entry.hub(view.kind);
  }

  get size(): number {
    return this.view.size;
  }

  json(): Buffer {
    return this.view.json();
  }

  metadataJson(): Buffer {
    return this.view.metadataJson();
  }
}

function plainSource(shown: KubeObject, stored: KubeObject): Source {
  return {
    size: 0,
    shown,
    stored,
    json: () => Buffer.from(JSON.stringify(shown)),
    metadataJson: () => Buffer.from(JSON.stringify(shown.metadata)),
    view: undefined,
  };
}

function storedOf(object: KubeObject, resource: Resource): KubeObject {
  // The replies of subresources are of other kinds, and objects that were not stored are converted back if that is
  // possible synchronously.
  const { toHub } = resource.version;
  if (object.kind !== resource.kind.kind || !toHub) return object;
  return toHub({ ...clone(object), apiVersion: resource.kind.hub.apiVersion });
}
