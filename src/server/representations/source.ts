import { clone } from '../../base/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { Item, WatchEvent } from '../api.ts';
import { ObjectEvent } from '../cache/change-record.ts';
import { View } from '../cache/entry.ts';
import { toHub } from '../objects/hub.ts';
import type { Resource } from '../registry.ts';

/** An object that is to be shown in another form. */
export interface Source {
  /** As the version of the call shows it. */
  readonly shown: KubeObject;
  /** In the shape that columns read. */
  readonly stored: KubeObject;
  /** What is shown, as JSON. */
  json(): string;
}

export function sourceOf(item: Item, resource: Resource): Source {
  return { shown: item.object, stored: storedOf(item, resource), json: () => item.json().toString() };
}

export function sourceOfEvent(event: WatchEvent, object: KubeObject): Source {
  if (event instanceof ObjectEvent) return sourceOf(event.entry.view(event.resource), event.resource);
  // A bookmark has no more than metadata, which is the same in every version.
  return { shown: object, stored: object, json: () => JSON.stringify(object) };
}

function storedOf(item: Item, resource: Resource): KubeObject {
  if (item instanceof View) return item.entry.hub(item.kind);
  const { object } = item;
  // The answers of subresources are of other kinds, and what was not stored is converted back.
  if (object.kind !== resource.kind.kind || !resource.version.toHub) return object;
  return toHub(resource, clone(object));
}
