import { clone } from '../../base/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Item, WatchEvent } from '../api.ts';
import { ObjectEvent } from '../cache/change-record.ts';
import { View } from '../cache/view.ts';
import type { Resource } from '../registry.ts';

/** An object that is to be shown in another form. */
export interface Source {
  /** As the version of the call shows it. */
  readonly shown: KubeObject;
  /** In the shape that columns read. */
  readonly stored: KubeObject;
  /** What is shown, as JSON, and its metadata alone. */
  json(): Buffer;
  metadataJson(): Buffer;
  /** What was made of it for these columns, or is made now. */
  row(columns: Row['columns'], make: () => Row): Row;
}

/** The part of a table's row that stays the same: see table.ts. */
export type Row = NonNullable<View['row']>;

export function sourceOf(item: Item, resource: Resource): Source {
  if (item instanceof View) return new StoredSource(item);
  return plainSource(item.object, storedOf(item.object, resource));
}

export function sourceOfEvent(event: WatchEvent, object: KubeObject): Source {
  if (event instanceof ObjectEvent) return sourceOf(event.entry.view(event.resource), event.resource);
  // A bookmark has no more than metadata, which is the same in every version.
  return plainSource(object, object);
}

/** What is in the store. Most of it is kept with the object, for the next who asks. */
class StoredSource implements Source {
  readonly shown: KubeObject;
  readonly stored: KubeObject;

  constructor(private readonly view: View) {
    this.shown = view.object;
    this.stored = view.entry.hub(view.kind);
  }

  json(): Buffer {
    return this.view.json();
  }

  metadataJson(): Buffer {
    return this.view.metadataJson();
  }

  row(columns: Row['columns'], make: () => Row): Row {
    if (this.view.row?.columns !== columns) this.view.row = make();
    return this.view.row!;
  }
}

function plainSource(shown: KubeObject, stored: KubeObject): Source {
  return {
    shown,
    stored,
    json: () => Buffer.from(JSON.stringify(shown)),
    metadataJson: () => Buffer.from(JSON.stringify(shown.metadata)),
    row: (_columns, make) => make(),
  };
}

function storedOf(object: KubeObject, resource: Resource): KubeObject {
  // The replies of subresources are of other kinds, and what was not stored is converted back where that is possible at once.
  const { toHub } = resource.version;
  if (object.kind !== resource.kind.kind || !toHub) return object;
  return toHub({ ...clone(object), apiVersion: resource.kind.hub.apiVersion });
}
